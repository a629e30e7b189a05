/**
 * The completion scripts. Each runs the program whose name is typed, also if that is `./devmgr` or a link to it, and treats
 * the answer as data: nothing of it is evaluated.
 */
import type { ShellName } from './typed.ts';

/** The flag that a script puts before what has been typed. */
const question = '--offer';

const bash = `# devmgr completion for bash. Load it with: source <(devmgr completion bash)
_devmgr() {
  local program=$1 line kind=
  [[ $program == "~/"* ]] && program=$HOME/\${program:2}
  program=$(type -P -- "$program") || program=devmgr
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ -z $kind ]]; then kind=$line; else COMPREPLY+=("$line"); fi
  done < <("$program" completion bash ${question} -- "\${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null </dev/null)
  case $kind in
    files) compopt -o default 2>/dev/null ;;
    folders) compopt -o dirnames 2>/dev/null ;;
    words)
      compopt -o nosort 2>/dev/null
      [[ \${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2>/dev/null
      ;;
  esac
}
complete -F _devmgr devmgr
`;

const zsh = `#compdef devmgr
# devmgr completion for zsh. Load it with: source <(devmgr completion zsh)
_devmgr() {
  local program=\${(Q)words[1]} line word tab=$'\\t'
  local -a lines open openShown full fullShown
  [[ $program == "~/"* ]] && program=$HOME/\${program#"~/"}
  program=$(whence -p -- "$program") || program=devmgr
  lines=("\${(@f)$("$program" completion zsh ${question} -- "\${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null </dev/null)}")
  case $lines[1] in
    files|folders)
      [[ $PREFIX == --*=* ]] && compset -P '*='
      if [[ $lines[1] == files ]]; then _files; else _files -/; fi
      return
      ;;
  esac
  for line in "\${(@)lines[2,-1]}"; do
    word=\${line%%$tab*}
    [[ -n $word ]] || continue
    [[ -n \${line#*$tab} ]] && line="$word  -- \${line#*$tab}" || line=$word
    if [[ $word == *= ]]; then open+=("$word"); openShown+=("$line")
    else full+=("$word"); fullShown+=("$line"); fi
  done
  local -a anyCase=(-M 'm:{[:lower:][:upper:]}={[:upper:][:lower:]}')
  (( $#open )) && compadd $anyCase -S '' -l -V devmgr-open -d openShown -a -- open
  (( $#full )) && compadd $anyCase -l -V devmgr -d fullShown -a -- full
}
# As a file of $fpath this is read at the first TAB, in place of the function that it defines.
if [[ \${funcstack[1]} == _devmgr ]]; then _devmgr "$@"; else compdef _devmgr devmgr; fi
`;

const fish = `# devmgr completion for fish. Load it with: devmgr completion fish | source
function __devmgr_offer
  set -l words (commandline -opc)
  set -l token "$(commandline -ct | string collect)"
  set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
  command -q -- $program; or set program devmgr
  set -l lines (command $program completion fish ${question} -- $words[2..-1] "$token" 2>/dev/null </dev/null)
  switch "$lines[1]"
    case files folders
      set -l start (string match -r '^--[^=]*=' -- $token)
      set -l found
      set -l raw (string replace -r '^--[^=]*=' '' -- $token)
      set -l typed (string unescape -- "$raw"; or printf '%s\\n' "$raw")
      if test "$lines[1]" = files
        set found (__fish_complete_path "$typed")
      else
        set found (__fish_complete_directories "$typed")
      end
      for path in $found
        printf '%s%s\\n' "$start" $path
      end
    case words
      printf '%s\\n' $lines[2..-1]
  end
end
complete -c devmgr -f -a '(__devmgr_offer)'
`;

/** The script of each shell. */
export const scripts: Readonly<Record<ShellName, string>> = { bash, zsh, fish };
