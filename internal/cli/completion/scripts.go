package completion

// The scripts ask the program itself for the next words. Bash ends a word at "=", so its
// script joins options and their values again.
const (
	bashCompletion = `# Bash completion for kolla. Load it with: source <(kolla completion bash)
_kolla() {
  local words=() word candidate quote="" cut="" i
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word="${COMP_WORDS[i]}"
    if ((i > 0)) && [[ "$word" == "=" || "${COMP_WORDS[i-1]}" == "=" ]]; then
      words[${#words[@]}-1]+="$word"
    else
      words+=("$word")
    fi
  done
  word="${words[${#words[@]}-1]}"
  [[ "$word" == *=* && "$word" == -* ]] && cut="${word%%=*}="
  word="${word#"$cut"}"
  [[ "$word" == [\"\']* ]] && quote="${word:0:1}" && word="${word:1}"
  words[${#words[@]}-1]="$cut$word"
  COMPREPLY=()
  while IFS= read -r candidate; do
    candidate="${candidate#"$cut"}"
    [[ -z "$quote" ]] && printf -v candidate %q "$candidate"
    COMPREPLY+=("$candidate")
  done < <("${words[@]}" --generate-bash-completion 2>/dev/null)
}
complete -o default -F _kolla kolla
`
	zshCompletion = `#compdef kolla
# Zsh completion for kolla. Load it with: source <(kolla completion zsh)
_kolla() {
  local -a before candidates
  before=("${(@Q)words[1,CURRENT]}")
  candidates=("${(@f)$("${before[@]}" --generate-bash-completion 2>/dev/null)}")
  candidates=(${candidates:#})
  (($#candidates)) && compadd -a candidates && return
  compset -P '-*='
  _files
}
compdef _kolla kolla
`
	fishCompletion = `# Fish completion for kolla.
function __kolla_candidates
  set -l last (commandline -ct | string replace --regex '^(-[^=]*=)?["\']' '$1')
  set last (string unescape -- "$last"; or printf '%s\n' "$last")
  set -l words (commandline -opc) "$last"
  $words --generate-bash-completion 2>/dev/null
end
complete -c kolla -n 'count (__kolla_candidates) >/dev/null' -f -a '(__kolla_candidates)'
`
)

// Script returns the completion script for a shell: bash, zsh or fish.
func Script(shell string) (script string, ok bool) {
	script, ok = map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[shell]
	return script, ok
}
