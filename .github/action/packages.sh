# shellcheck shell=bash
# install_packages NAME...: installs missing Debian packages, as root or through sudo. An image such as debian:12 has neither curl
# nor git nor certificates.
install_packages() {
  local name missing=() as_root=()
  for name in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
  done
  [ ${#missing[@]} != 0 ] || return 0
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  if ! { ${as_root[@]+"${as_root[@]}"} apt-get update -qq &&
    ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; } \
    >/dev/null; then
    echo "::warning title=zerotax::cannot install ${missing[*]}: install them in a step before this action"
  fi
}
