# Completion of zerotax for bash: the command itself says what may follow, and bash adds files.
_zerotax() {
  local IFS=$'\n'
  COMPREPLY=($("${COMP_WORDS[0]}" help --complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  # "jemalloc:" goes on with KEY=VALUE.
  if [[ ${COMPREPLY[0]-} == *: ]]; then compopt -o nospace 2>/dev/null; fi
  return 0
}
complete -o bashdefault -o default -F _zerotax zerotax
