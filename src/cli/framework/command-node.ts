/** A node of the tree of commands, made of commander: its names, its flags and how a command line is parsed. */
import { Command, type HelpContext, Option } from 'commander';
import { usage } from '../fault.ts';
import type { AnyCommand, Entry } from './define.ts';
import { type FlagShapes, globalFlags } from './flags.ts';
import { isGlobalFlag, takesValue } from './global-words.ts';
import { type Flag, FlagSet, NamedArgument } from './options.ts';

/** Heading of the options that every command has. */
export const globalGroup = 'Global options:';

/** Flags of the program without a command. */
const programFlags = {
  all: { help: 'with --help: show all commands, global options and exit codes' },
  version: { short: 'V', help: 'show the version' },
} as const satisfies FlagShapes;

type Act = (node: CommandNode) => Promise<void>;

/** The program, a group of commands, or a command. */
export class CommandNode extends Command {
  #entry: Entry | null = null;
  #act: Act = () => Promise.resolve();
  readonly #flagSet = new FlagSet();
  /** Texts for `help NAME`, of the program only. */
  topics: Readonly<Record<string, string>> = {};
  /** Headings of sections that the overview leaves out, of the program only. */
  rareSections: readonly string[] = [];
  /** Whether help shows details, of the program only. */
  showsAll = false;
  #isDefined = false;
  /** The definition of the command; null for the program, for groups, and before it is loaded. */
  shape: AnyCommand | null = null;

  constructor(name?: string) {
    super(name);
    this.hook('preSubcommand', (_, wanted) => (wanted as CommandNode).#define());
  }

  get nodes(): readonly CommandNode[] {
    return this.commands as readonly Command[] as readonly CommandNode[];
  }

  child(name: string): CommandNode | undefined {
    return this.nodes.find(node => node.name() === name);
  }

  /** The command or group below this node for a word: its name, or another name of it. */
  named(word: string): CommandNode | undefined {
    const name = `${this.path} ${word}`.trim();
    const leaf = (is: (other: string) => boolean) => this.leaves.find(({ otherNames }) => otherNames.some(is));
    const earlier = leaf(other => other.startsWith(`${name} `));
    return this.child(word) ?? leaf(other => other === name) ?? (earlier?.parent as CommandNode | undefined);
  }

  /** Other names of a command, complete as they are typed. */
  get otherNames(): readonly string[] {
    return this.#entry?.aliases ?? [];
  }

  /** The commands below this node, and the node itself if it is one. */
  get leaves(): readonly CommandNode[] {
    const below = this.nodes.flatMap(node => node.leaves);
    return below.length === 0 || this.isCommand ? [this, ...below] : below;
  }

  /** Whether it can be run. A command may have others below it. */
  get isCommand(): boolean {
    return this.#entry !== null;
  }

  /** The name as it is typed, without `devmgr`: `daemon start`. */
  get path(): string {
    return this.parent === null ? '' : `${(this.parent as CommandNode).path} ${this.name()}`.trim();
  }

  /** Adds a group, or with an entry a command. */
  add(name: string, section: string, entry: Entry | null = null, act: Act = this.#act): CommandNode {
    const node = this.command(name);
    node.#entry = entry;
    node.#act = act;
    return node.helpCommand(false).helpGroup(section);
  }

  override createCommand(name?: string): CommandNode {
    return new CommandNode(name);
  }

  /** Loads the command with all its flags. Idempotent. */
  async load(): Promise<void> {
    await this.#define();
    this.#flagSet.addAll(this);
  }

  async #define(): Promise<void> {
    if (this.#isDefined) return;
    this.#isDefined = true;
    if (this.#entry !== null) this.#defineAs(this.#entry.summary, await this.#entry.load());
    this.#flagSet.define(globalFlags, globalGroup);
    if (this.parent === null) this.#flagSet.define(programFlags, globalGroup);
    this.addHelpOption(new Option('-h, --help', 'show this help').helpGroup(globalGroup));
  }

  #defineAs(summary: string, shape: AnyCommand): void {
    const { args = [], flags, description } = shape;
    this.shape = shape;
    for (const argument of args) this.addArgument(new NamedArgument(argument));
    this.#flagSet.define(flags, 'Options:');
    const paragraphs = description?.split('\n') ?? [];
    this.description([sentence(summary), ...paragraphs].join('\n\n'));
    this.action(() => {
      const lacking = this.#flagSet.lacking(this);
      if (lacking) this.error(`option '--${lacking.flag}' needs option '--${lacking.needed}'`);
      const blank = this.args.findIndex((text, at) => text.trim() === '' && !(args[at] ?? args.at(-1))?.empty);
      if (blank >= 0) this.error(`argument '${(args[blank] ?? args.at(-1))?.name}' is empty`);
      return this.#act(this);
    });
  }

  get program(): CommandNode {
    return this.parent === null ? this : (this.parent as CommandNode).program;
  }

  get flags(): readonly Flag[] {
    return this.options as readonly Option[] as readonly Flag[];
  }

  /** The flags that only this command has, without their aliases. */
  get ownFlags(): readonly Flag[] {
    return this.flags.filter(flag => !flag.hidden && flag.helpGroupHeading !== globalGroup);
  }

  /** The values of all flags by camel-case name. */
  get values(): Readonly<Record<string, unknown>> {
    return this.#flagSet.valuesOf(this);
  }

  /** Whether the flag with that camel-case name is on the command line. */
  isGiven(name: string): boolean {
    return this.getOptionValueSource(name) === 'cli';
  }

  override parseOptions(given: string[]) {
    const words = this.#flagSet.has('out') ? given.flatMap(namedFile) : given;
    this.#flagSet.addUsed(this, words);
    const end = words.indexOf('--');
    // Commander would take a flag that follows for the value.
    for (const [index, word] of (end < 0 ? words : words.slice(0, end)).entries()) {
      const value = words[index + 1] ?? '';
      const flag = /^-[^\d]/.test(value) ? this.flags.find(option => option.matches(word)) : null;
      if (flag?.required)
        throw usage(`option '${flag.flags}' argument missing`, missingValueHint(flag.flags, word, value));
    }
    const parsed = super.parseOptions(words);
    // An unknown flag, or --help.
    if (parsed.unknown.length > 0) this.#flagSet.addAll(this);
    return parsed;
  }

  /** Called by commander, which would repeat what follows the name of the flag: `--password=VALUE`, `-pVALUE`. It may be a secret. */
  unknownOption(word: string): never {
    const name = /^--[^=\s]*|^-./u.exec(word)?.[0] ?? '-';
    if (name !== word && this.flags.some(flag => flag.long === name))
      return this.error(`option '${name}' takes no value`);
    return (Command.prototype as unknown as Pick<CommandNode, 'unknownOption'>).unknownOption.call(this, name);
  }

  /** The help names all options, also after a group without the name of a command. */
  override helpInformation(context?: HelpContext): string {
    this.#flagSet.addAll(this);
    return super.helpInformation(context);
  }

  /** Every error of commander passes here, as `error: message` and a suggestion in a line of its own. */
  override error(text: string, { code }: { readonly code?: string } = {}): never {
    const [line = '', suggestion] = text.replace(/^error: /, '').split('\n');
    // Of too many arguments, one may be a password.
    const message = code === 'commander.excessArguments' ? `${line.slice(0, line.indexOf(':'))}.` : line;
    const known =
      code === 'commander.unknownCommand' && this.parent === null ? otherWords.get(this.args[0] ?? '') : undefined;
    if (known !== undefined) throw usage(message, known);
    if (code === 'commander.invalidArgument' && line.includes(' --output') && this.#flagSet.has('out'))
      throw usage(message, 'a file is named with --out FILE');
    // A single hyphen begins one letter: a longer word may be a serial number.
    if (
      code === 'commander.unknownOption' &&
      this.registeredArguments.length > 0 &&
      /^unknown option '-[^-]'/.test(line)
    )
      throw usage(message, `a name that begins with a hyphen follows --: devmgr ${this.path} -- NAME`);
    const namesakes = code === 'commander.unknownCommand' ? this.#namesakes() : [];
    const hint =
      namesakes.length > 0 ? `did you mean ${namesakes.join(' or ')}?` : suggestion?.replace(/^\(D(.*)\)$/, 'd$1');
    throw usage(message, hint ?? `see: ${['devmgr', this.path, '--help'].filter(Boolean).join(' ')}`);
  }

  /** Commands of groups that have the name which was taken for a command: `daemon audit` for `audit`. */
  #namesakes(): readonly string[] {
    return this.leaves.filter(leaf => leaf.name() === this.args[0]).map(leaf => `devmgr ${leaf.path}`);
  }

  /** Parses a command line and runs its command. After help, commander ends the program by an error. */
  async run(argv: readonly string[]): Promise<void> {
    this.showsAll = argv.includes('--all');
    const topic = argv[0] === 'help' ? this.topics[argv[1] ?? ''] : undefined;
    if (topic !== undefined) return this.#writeTopic(topic);
    const words = this.namesFirst(argv);
    if (!this.child(words[0] ?? '')) await this.#define();
    await this.parseAsync(words, { from: 'user' });
  }

  #writeTopic(topic: string): void {
    const { writeOut, getOutHelpWidth } = this.configureOutput();
    writeOut!(`${this.createHelp().boxWrap(topic.replaceAll('\n', '\n\n'), getOutHelpWidth!())}\n`);
  }

  /** Moves the names of the command to the front, as its proper names: flags may come before them. `help NAME` becomes `NAME --help`. */
  namesFirst(words: readonly string[]): string[] {
    const at = this.#nameAt(words);
    // Behind the name of a command a word is one of its arguments, or the value of one of its flags.
    if (at < 0 || (this.isCommand && words[at] !== 'help' && !this.child(words[at]!))) return [...words];
    const name = words[at]!;
    const rest = words.toSpliced(at, 1);
    if (name === 'help') return [...this.namesFirst(rest), '--help'];
    const child = this.named(name);
    const before = words[at - 1] ?? '';
    // The word may be the value of that flag, and a secret.
    if (!child && isFlag(before) && !isGlobalFlag(before)) return this.unknownOption(before);
    // Commander would show the help of the parent instead of the error.
    if (!child) return [name, ...rest.filter(word => word !== '--help' && word !== '-h')];
    const path = child.path.slice(this.path.length).trim().split(' ');
    return [...path, ...child.namesFirst(rest)];
  }

  /** Index of the first word that is neither a flag nor the value of one; -1 if there is none, or after a flag of this command. */
  #nameAt(words: readonly string[]): number {
    if (this.nodes.length === 0) return -1;
    const isName = (word: string) => word === 'help' || this.named(word) !== undefined;
    for (let at = 0; at < words.length && words[at] !== '--'; at++) {
      const word = words[at]!;
      if (takesValue.has(word)) at++;
      else if (this.isCommand && isFlag(word) && !isGlobalFlag(word)) return -1;
      else if (!isFlag(word) && (isName(word) || !isFlag(words[at - 1] ?? '') || !words.slice(at + 1).some(isName)))
        return at;
    }
    return -1;
  }
}

/**
 * In earlier versions `-o` named a file where a command has `--out`, and scripts may write it. A word with a slash or an ending is
 * not a format; any other one is refused unless it is a format.
 */
function namedFile(word: string, at: number, words: readonly string[]): readonly string[] {
  const isFile = (value: string) => value === '-' || /\/|[^.]\.[^.]/.test(value);
  if (word === '-o' && isFile(words[at + 1] ?? '')) return ['--out'];
  return /^-o./.test(word) && isFile(word.slice(2)) ? [`--out=${word.slice(2)}`] : [word];
}

const retired = 'devices are retired, not deleted: devmgr deactivate DEVICE';
const ungrouped = `leave that word out, as in devmgr show DEVICE; ${retired}`;

/** Hints for words that other programs have as commands. */
const otherWords: ReadonlyMap<string, string> = new Map([
  ...['rm', 'delete', 'del', 'remove', 'retire'].map(word => [word, retired] as const),
  ...['device', 'devices'].map(word => [word, ungrouped] as const),
  ...['get', 'info', 'describe', 'view'].map(word => [word, 'see one device: devmgr show DEVICE'] as const),
  ['find', 'find devices: devmgr search TEXT'],
  ['import', 'register the devices of a file: devmgr register --file FILE'],
  ['log', 'what happened: devmgr events'],
]);

/** The text as a sentence: a capital first, a period last. */
export const sentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;

const isFlag = (word: string): boolean => word.startsWith('-') && word !== '-';

/** Advice if a flag follows in place of a value. */
const missingValueHint = (flags: string, word: string, value: string): string =>
  flags.includes('NAME=VALUE') && value.startsWith('--')
    ? `give it in one word: ${word} ${value.slice(2)}=VALUE`
    : `if the value begins with a dash: ${word}=${value}`;
