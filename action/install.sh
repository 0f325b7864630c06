#!/bin/bash
# Installs PACKAGE/zerotax.deb with what it needs, and what --html needs: install.sh PACKAGE. As root, or through sudo.
set -euo pipefail

package=$(realpath "$1/zerotax.deb")
as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo)
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" python3-jinja2 >/dev/null
zerotax --version
