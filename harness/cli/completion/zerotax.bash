# Completion of zerotax for bash: the command itself says what may follow, and bash adds files.
_zerotax() {
  local IFS=$'\n'
  COMPREPLY=($("${COMP_WORDS[0]}" help --complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  # "jemalloc:" goes on with KEY=VALUE.
  [[ ${COMPREPLY[0]-} == *: ]] && compopt -o nospace
}
complete -o bashdefault -o default -F _zerotax zerotax
