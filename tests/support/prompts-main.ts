/** Asks one question of the kind that is named and writes the answer as JSON. Run on a pseudo-terminal by prompts.test.ts. */
import { Fault } from '../../src/cli/fault.ts';
import { processIo } from '../../src/cli/terminal/io.ts';
import { Output } from '../../src/cli/terminal/output.ts';
import { askPassword, askText, confirm, pickOne } from '../../src/cli/terminal/prompt.ts';
import { type ChoiceSource, searchMany, searchOne } from '../../src/cli/terminal/search-prompts.ts';

const names = ['alpha', 'beta', 'gamma'];
const choices = names.map(name => ({ name, value: name.toUpperCase(), description: `letter ${name}` }));
const io = processIo();
const out = new Output(io, process.env, {
  format: 'table',
  selection: null,
  fields: [],
  quiet: false,
  noColor: false,
  verbose: false,
});

const source: ChoiceSource<string> = async (typed, { signal }) => {
  signal.throwIfAborted();
  if (typed === 'fail') throw new Error('The server is gone');
  return { choices: choices.filter(choice => choice.name.includes(typed)), more: typed === '' ? 7 : 0 };
};

const kinds = {
  text: () => askText(out, 'Question', typed => (typed === 'wrong' ? 'This is wrong' : null)),
  password: () => askPassword(out, 'Question', typed => (typed.length < 8 ? 'This is too short' : null)),
  confirm: () => confirm(out, 'Question'),
  pick: () => pickOne(out, 'Question', choices),
  many: () => searchMany(out, 'Question', source),
  search: () => searchOne(out, 'Question', source),
} as const;

process.stdout.write(`pid ${process.pid}\n`);
try {
  process.stdout.write(`${JSON.stringify({ answer: await kinds[process.argv[2] as keyof typeof kinds]() })}\n`);
} catch (error) {
  if (!(error instanceof Fault)) throw error;
  process.stdout.write(`${error.kind}: ${error.message}\n`);
  process.exit(error.kind === 'interrupted' ? 130 : 2);
}
