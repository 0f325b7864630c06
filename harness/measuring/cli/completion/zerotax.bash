# Completion of zerotax for bash. The command lists the words that may follow, and bash adds files.
_zerotax() {
  local IFS=$'\n'
  COMPREPLY=($("${COMP_WORDS[0]}" help --complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  # KEY=VALUE follows "jemalloc:" without a blank.
  if [[ ${COMPREPLY[0]-} == *: ]]; then compopt -o nospace 2>/dev/null; fi
  return 0
}
complete -o bashdefault -o default -F _zerotax zerotax
