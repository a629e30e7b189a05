import { writtenActivationCode } from '../../../contract/ids.ts';
import { activationAlphabet } from '../../../contract/values.ts';
import { usage } from '../../fault.ts';
import { need } from '../../framework/ask.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { pluggedFlag } from '../../framework/flags.ts';
import { present, stateTitle } from '../../framework/present.ts';
import { safe } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';
import { boundName } from '../accounts/find-user.ts';
import { bulkDescription, bulkFlags, devicesArg, isBulk } from '../many/bulk/flags.ts';
import { changeTargets } from '../many/bulk/targets.ts';

/** Binds a device to a user: `POST /api/devices/activate`. Prompts for a missing code and user. */
export const activate = command({
  description: `With several devices or --filter, the registry supplies the codes. A CSV file needs the column activationCode and, without --user, the column userId.\n${bulkDescription}`,
  args: [devicesArg('ACTIVATE')],
  flags: {
    code: {
      value: 'CODE',
      field: 'activationCode',
      conflicts: ['file', 'filter'],
      help: 'activation code, in upper or lower case, with or without hyphens',
    },
    user: {
      value: 'USER',
      field: 'userId',
      aliases: ['user-id'],
      offer: 'holder',
      help: 'user name of the person to bind the device to',
    },
    ...bulkFlags,
    ...pluggedFlag,
  },
  examples: {
    'by deviceId': 'activate DEV-1 --code 7KQM-2XWD-H9TB-C4RE --user alice',
    'the attached key': 'activate --plugged --code 7KQM-2XWD-H9TB-C4RE --user alice',
    'the keys of a box, all for one user': 'activate --file codes.csv --user alice --yes --out done.csv',
  },
  async run({ args, flags }, context) {
    const isCodeGiven = flags.code !== undefined;
    if (isCodeGiven && isBulk(args, flags))
      throw usage('--code is for one device', 'omit it: the codes come from the registry');
    // The lines of a file may name their users.
    const fields = async () =>
      flags.file === undefined || flags.user !== undefined ? { userId: await userOf(context, flags.user) } : {};
    const activateOne = async (deviceId: string) => {
      const typed = await need(context, flags.code, {
        flag: '--code',
        question: 'Activation code',
        check: code => (isCode(code) ? null : codeRule),
      });
      const activationCode = writtenActivationCode(typed);
      const userId = await userOf(context, flags.user);
      const data = await context.registry.call('activateDevice', { body: { deviceId, activationCode, userId } });
      return present(context, {
        data,
        id: data.deviceId,
        title: stateTitle(context, data),
        rows: [
          ['user', safe(data.userId)],
          ['activated', localTime(data.activatedAt)],
        ],
      });
    };
    return changeTargets(context, { operation: 'ACTIVATE', names: args, flags, fields }, activateOne, isCodeGiven);
  },
});

/** The user, picked among the persons of the registry, or its accounts, by a caller who may list them. */
async function userOf(context: Context, given: string | undefined): Promise<string> {
  if (given === undefined && context.canAsk && context.out.canDraw) {
    const { pickHolder } = await import('../../framework/pickers/holders.ts');
    const picked = await pickHolder(context, question);
    if (picked !== null) return picked;
  }
  return boundName(context, await need(context, given, { flag: '--user', question, field: 'userId' }), '--user');
}

const question = 'User to bind it to';

const codeRule = 'A code has four groups of four letters and digits, without 0, 1, I and O';

/** In upper or lower case, with or without hyphens. */
function isCode(typed: string): boolean {
  const symbols = [...typed.replaceAll(/[\s-]/g, '').toUpperCase()];
  return symbols.length === 16 && symbols.every(symbol => activationAlphabet.includes(symbol));
}
