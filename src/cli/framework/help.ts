/** The help: an overview that fits a small terminal; for a command, its own options before the global ones. */
import { Help } from 'commander';
import type { Paint } from '../terminal/style.ts';
import { type CommandNode, globalGroup } from './command-node.ts';

/** Parts of the help beside the tree of commands. */
export interface HelpOptions {
  readonly paint: Paint;
  /** Exit codes with their meaning. */
  readonly endings: readonly (readonly [code: string, words: string])[];
}

type HelpItem = readonly [term: string, description: string];
interface HelpPart {
  readonly title: string;
  readonly items: readonly HelpItem[];
}

/** Cells that a description beside its term needs; with fewer it goes below the term. Commander would not break it. */
const leastWrapped = 20;
/** Spaces before a term and between a term and its description. */
const itemSpaces = 4;
const belowTerm = '      ';

const firstSteps: readonly HelpItem[] = [
  ['devmgr quickstart', 'start a daemon and enroll the first key'],
  ['devmgr COMMAND --help', 'show a command with its options and examples'],
  ['devmgr --help --all', 'show all commands, global options and exit codes'],
];

/** How commander writes the help. */
export const helpLayout = ({ paint, endings }: HelpOptions): Partial<Help> => ({
  minWidthToWrap: leastWrapped,
  formatItem(term, termWidth, description, helper) {
    const width = widthOf(helper);
    if (description === '' || width - termWidth - itemSpaces >= leastWrapped)
      return Help.prototype.formatItem.call(this, term, termWidth, description, helper);
    const lines = helper.boxWrap(description, width - belowTerm.length).split('\n');
    return [`  ${term}`, ...lines.map(line => belowTerm + line)].join('\n');
  },
  styleUsage(text) {
    const indent = ' '.repeat('Usage: '.length);
    return this.boxWrap!(text, widthOf(this) - indent.length).replaceAll('\n', `\n${indent}`);
  },
  styleTitle: text => paint('bold', text),
  subcommandTerm: node => namesOf(node as CommandNode),
  formatHelp(command, helper) {
    const node = command as CommandNode;
    const before = [`${helper.styleTitle('Usage:')} ${helper.styleUsage(helper.commandUsage(node))}`, ''];
    const names =
      node.otherNames.length > 0 ? [`Also: ${node.otherNames.map(name => `devmgr ${name}`).join(', ')}`, ''] : [];
    const description = helper.boxWrap(helper.commandDescription(node), widthOf(helper));
    const after = writtenParts(partsOf(node, helper, endings), helper, paint);
    return `${[...before, ...names, description, '', ...after].join('\n').trimEnd()}\n`;
  },
});

const widthOf = ({ helpWidth = 80 }: { helpWidth?: number | undefined }): number => helpWidth;

/** The name of a command with its other names: `list, ls`. */
const namesOf = ({ path, otherNames }: CommandNode): string => [path, ...otherNames].join(', ');

type HelpParts = readonly (HelpPart | readonly string[])[];

function partsOf(node: CommandNode, help: Help, endings: HelpOptions['endings']): HelpParts {
  const isProgram = node.parent === null;
  if (isProgram && !node.isGiven('all'))
    return [
      { title: '', items: overviewOf(node) },
      { title: '', items: firstSteps },
    ];
  const title = (leaf: CommandNode) => (isProgram ? leaf.helpGroup() : 'Commands:');
  const commands =
    node.nodes.length === 0 || briefOf(node)
      ? []
      : grouped(
          node.leaves.filter(leaf => leaf !== node),
          title,
          leaf => [namesOf(leaf), leaf.summary()],
        );
  const args = help
    .visibleArguments(node)
    .map((arg): HelpItem => [help.argumentTerm(arg), help.argumentDescription(arg)]);
  const all = help.visibleOptions(node);
  const brief = briefOf(node)?.flags;
  const shown = brief
    ? all.filter(option => option.helpGroupHeading === globalGroup || brief.includes(option.name()))
    : all;
  const options = grouped(
    shown,
    option => option.helpGroupHeading ?? '',
    option => [help.optionTerm(option), help.optionDescription(option)],
  );
  const isGlobal = ({ title }: HelpPart) => title === globalGroup;
  return [
    ...commands,
    { title: 'Arguments:', items: args },
    ...options.filter(part => !isGlobal(part)),
    examplesOf(node, help),
    ...(isProgram ? options.filter(isGlobal) : [briefOf(node) ? moreOf(node) : globalNames(node, help)]),
    { title: 'Exit codes:', items: isProgram ? endings : [] },
  ];
}

/** The part of a long help that is shown; absent if all of it is. */
const briefOf = ({ program, shape }: CommandNode) => (program.showsAll ? undefined : shape?.brief);

const moreOf = ({ path }: CommandNode): readonly string[] => [`More options: devmgr ${path} --help --all`, ''];

/** All commands have the same global options: their names are enough in the help of one. */
function globalNames(node: CommandNode, help: Help): readonly string[] {
  const names = help.visibleOptions(node).filter(option => option.helpGroupHeading === globalGroup);
  const text = `${names.map(({ long }) => long).join(', ')}; see: devmgr --help --all`;
  const lines = help.boxWrap(text, widthOf(help) - 2).split('\n');
  return [help.styleTitle(globalGroup), ...lines.map(line => `  ${line}`), ''];
}

function grouped<T>(things: readonly T[], titleOf: (thing: T) => string, itemOf: (thing: T) => HelpItem): HelpPart[] {
  const groups = Map.groupBy(things, titleOf);
  return [...groups].map(([title, members]) => ({ title, items: members.map(itemOf) }));
}

/** The names at the first place of a command line, by section. */
function overviewOf(program: CommandNode): HelpItem[] {
  const common = program.nodes.filter(node => !program.rareSections.includes(node.helpGroup()));
  const groups = Map.groupBy(common, node => node.helpGroup());
  return [...groups].map(([section, nodes]) => [section, nodes.map(node => node.name()).join(', ')]);
}

/** Lines to copy, so they are not wrapped; what they do is. */
function examplesOf(node: CommandNode, help: Help): readonly string[] {
  const { shape } = node;
  if (shape === null) return [];
  const shown = Object.entries(shape.examples).slice(0, briefOf(node)?.examples);
  const lines = shown.flatMap(([does, line]) => [
    ...help
      .boxWrap(does, widthOf(help) - '  # '.length)
      .split('\n')
      .map(words => `  # ${words}`),
    `  devmgr ${line}`,
  ]);
  return [help.styleTitle('Examples:'), ...lines, ''];
}

function writtenParts(parts: HelpParts, help: Help, paint: Paint): string[] {
  return parts.flatMap(part => {
    if (!('items' in part)) return part;
    const { title, items } = part;
    if (items.length === 0) return [];
    const termWidth = Math.max(...items.map(([term]) => term.length));
    const lines = items.map(([term, words]) => help.formatItem(paint('bold', term), termWidth, words, help));
    return title === '' ? [...lines, ''] : help.formatItemList(title, lines, help);
  });
}
