#!/bin/bash
# usage: install.sh PACKAGE
# Installs PACKAGE/tree or PACKAGE/zerotax.deb, and the packages that zerotax and --html need, as root or through sudo.
set -euo pipefail

package=$(realpath "$1")
page=(python3-jinja2 node-d3-scale node-d3-zoom)
as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo)
"${as_root[@]}" apt-get update -qq
install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends)
if [ -d "$package/tree" ]; then
  "${install[@]}" "${page[@]}" >/dev/null
  "${as_root[@]}" ln -sf "$package/tree/bin/zerotax" /usr/local/bin/zerotax
else
  "${install[@]}" "$package/zerotax.deb" "${page[@]}" >/dev/null
fi
zerotax --version
