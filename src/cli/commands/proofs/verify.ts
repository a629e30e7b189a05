import { command } from '../../define.ts';
import { usage } from '../../fault.ts';
import { resultFlags } from '../../format.ts';
import { judgeAll } from './judge-all.ts';

/** Has the registry judge stored evidence again: `POST /api/proofs/judge-again`. */
export const verify = command({
  description: 'The registry judges the stored answers of keys again, after trust has changed. No key is needed.',
  flags: { all: { help: 'judge the stored answers of all devices again' }, ...resultFlags },
  examples: [{ does: 'after new trust was imported', line: 'verify --all' }],
  async run({ flags }, context) {
    if (!flags.all) throw usage('nothing to verify', 'add --all');
    return judgeAll(context);
  },
});
