#!/bin/bash
# usage: build.sh SOURCE PACKAGE
# Builds zerotax and its Debian package as PACKAGE/zerotax.deb. Installs the packages that the build needs.
set -euo pipefail

source=$1
package=$2
cd "$source"
./run build
(cd build && cpack -G DEB >cpack.log 2>&1) || {
  cat build/cpack.log >&2
  exit 2
}
mkdir -p "$package"
mv build/zerotax_*.deb "$package/zerotax.deb"
echo "built: $package/zerotax.deb"
