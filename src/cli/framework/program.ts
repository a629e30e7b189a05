/** The command line as a tree of commander: names and summaries at once, the flags of a command when it is used. */
import { CommandNode, sentence } from './command-node.ts';
import type { CommandTable, Entry } from './define.ts';
import { type HelpOptions, helpLayout } from './help.ts';

const about = `devmgr registers, activates, locks and retires hardware security keys: USB keys (UKEY) and SIM-based keys (SIMKEY). A device is named by its deviceId, its serial number, or --plugged: the one attached key.`;

/** Commands of the tree, and its output. */
interface ProgramOptions extends HelpOptions {
  readonly table: CommandTable;
  /** If it is a name of a command or a group, the tree has only that one: the others take a millisecond to add. */
  readonly only?: string | undefined;
  /** Width of the help. */
  readonly columns: number;
  /** Takes help that was asked for. */
  readonly write: (text: string) => void;
  /** Takes help that is shown because no command was named. */
  readonly say: (text: string) => void;
  /** Runs the command that was parsed. */
  readonly act: (node: CommandNode) => Promise<void>;
}

/** The tree without the definitions of the commands: those are loaded by `CommandNode.load`. */
export function createProgram(options: ProgramOptions): CommandNode {
  const { table, only, columns, write, say, act } = options;
  const program = new CommandNode('devmgr')
    .description(about)
    .helpCommand(false)
    .enablePositionalOptions()
    .exitOverride()
    .configureHelp(helpLayout(options))
    .configureOutput({
      writeOut: write,
      writeErr: say,
      getOutHelpWidth: () => columns,
      getErrHelpWidth: () => columns,
      getOutHasColors: () => true,
      getErrHasColors: () => true,
    });
  program.topics = table.topics;
  program.rareSections = table.sections.filter(({ isRare }) => isRare).map(({ title }) => `${title}:`);
  const all = table.sections.flatMap(({ title, entries }) => entries.map(entry => ({ section: `${title}:`, entry })));
  const wanted = all.filter(({ entry }) =>
    [entry.name, ...(entry.aliases ?? [])].some(name => name.split(' ')[0] === only),
  );
  for (const { section, entry } of wanted.length > 0 ? wanted : all)
    addEntry(program, entry, section, table.groups, act);
  return program;
}

type Act = ProgramOptions['act'];

/** Adds a command below its group. A group may be a command itself, and a member of another one. */
function addEntry(program: CommandNode, entry: Entry, section: string, groups: CommandTable['groups'], act: Act): void {
  const names = entry.name.split(' ');
  let parent = program;
  for (const name of names.slice(0, -1)) {
    const known = parent.child(name);
    const path = `${parent.path} ${name}`.trim();
    parent = known ?? parent.add(name, section).description(sentence(groups[path] ?? ''));
  }
  parent.add(names.at(-1)!, section, entry, act).summary(entry.summary);
}
