import { Code } from '../../../contract/codes.ts';
import type { Key } from '../../../contract/hardware.ts';
import { deviceIds } from '../../../contract/ids.ts';
import { evidenceMethods } from '../../../contract/key-values.ts';
import type { NumberedKey } from '../../../enrollment/registry.ts';
import { nullIfRefused } from '../../client/failures.ts';
import { exitCodes } from '../../exit-codes.ts';
import { Fault, usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { nameOf, onePluggedKey } from '../../framework/devices/device.ts';
import { attachedKeyList, registeredDevice } from '../../framework/devices/registration.ts';
import { present } from '../../framework/present.ts';
import { safe } from '../../terminal/text.ts';
import { gradeStyle, isProved, proofRows } from '../devices/proof.ts';
import { type KeyVerdict, proveKey } from './prove-key.ts';

/** Proves attached keys, or has the registry judge stored evidence again. Exit code 6 if a key failed or proved nothing. */
export const verify = command({
  description:
    'The registry sends a challenge that only a genuine key can answer, and checks the response. Some keys blink and wait for a touch. Nothing on the key changes, and no PIN is needed.\nExit code 0: the key has proved its model or its serial number; 6: it has not; 10: it did not respond, or is simulated; 7: at least one of several keys has proved neither.\nWith --all no key is needed: after trust has changed, the registry checks the stored evidence of all devices again.',
  args: [
    {
      name: 'KEY',
      help: 'serial number, deviceId or keyId of an attached key; by default the only one',
      optional: true,
      rest: true,
      offer: 'key',
    },
  ],
  flags: {
    method: {
      value: 'METHOD',
      choices: evidenceMethods,
      help: 'how to prove it (default: the strongest method of the key)',
    },
    all: { help: 'check the stored evidence of all devices again', conflicts: ['method'] },
  },
  examples: {
    'the attached key': 'keys verify',
    'one of several keys, by its serial number': 'keys verify UK-2026-000001',
    'after new trust was imported': 'keys verify --all',
  },
  async run({ args, flags }, context) {
    if (flags.all) {
      if (args.length > 0) throw usage('--all and a key cannot be combined', 'omit one of them');
      const { judgeAll } = await import('./judge-all.ts');
      return judgeAll(context);
    }
    const found = await attachedKeys(context, args);
    const endings: number[] = [];
    for (const key of found) {
      // The answer of another key must not become the proof of the device.
      await registeredDevice(context, key);
      const verdict = await proveKey(context, key, { method: flags.method });
      await write(context, verdict, found.length > 1);
      endings.push(exitOf(verdict));
    }
    if (endings.length === 1) return endings[0];
    return endings.every(code => code === exitCodes.done) ? exitCodes.done : exitCodes.partial;
  },
});

const exitOf = ({ proof, problem }: KeyVerdict): number => {
  if (isProved(proof)) return exitCodes.done;
  return problem === null ? exitCodes.refused : exitCodes.hardware;
};

async function write(context: Context, verdict: KeyVerdict, isOneOfSeveral: boolean): Promise<void> {
  const { out, globals } = context;
  const { serialNumber, deviceId, proof, problem } = verdict;
  if (globals.json && isOneOfSeveral) return out.row(verdict);
  await present(context, {
    data: verdict,
    id: serialNumber,
    title: `${safe(serialNumber)}  ${out.paint(gradeStyle(proof.grade), safe(proof.grade))}`,
    rows: [
      ['device', deviceId === null ? 'not registered' : safe(deviceId)],
      ['no answer', safe(problem)],
      ...proofRows({ proof }),
    ],
  });
}

/** The attached keys that are named, in that order; without a name the only one. Each has a serial number. */
export async function attachedKeys(context: Context, names: readonly string[]): Promise<readonly NumberedKey[]> {
  if (names.length === 0) return [numbered(await onePluggedKey(context))];
  const { list } = await attachedKeyList(context);
  const keys: NumberedKey[] = [];
  for (const name of new Set(names.map(text => text.trim()))) keys.push(numbered(await keyNamed(context, list, name)));
  return keys;
}

async function keyNamed(context: Context, list: readonly Key[], name: string): Promise<Key> {
  const found = list.find(({ serialNumber, keyId }) => serialNumber === name || keyId === name);
  const isId = deviceIds.parse(name) !== null;
  if (found && !isId) return found;
  const serial = isId ? await serialOf(context, name, found !== undefined) : name;
  // Earlier versions registered serial numbers of the form of a deviceId.
  if (found && serial !== null && serial !== found.serialNumber)
    throw usage(
      `"${name}" names two keys: the attached one with this serial number, and that of the device ${name} (${serial})`,
      `name one of them: ${found.keyId}, or ${serial}`,
    );
  const ofDevice = found ?? list.find(({ serialNumber }) => serialNumber === serial);
  if (ofDevice) return ofDevice;
  const what = isId ? `${name} (${serial})` : `a key with the serial number "${name}"`;
  throw new Fault('hardware', `${what} is not attached`, 'plug it in, or see what is attached: devmgr keys');
}

/** The serial number of a device. `orNull`: null if there is none with this id. */
async function serialOf({ registry }: Context, deviceId: string, orNull: boolean): Promise<string | null> {
  const detail = registry.call('getDevice', { params: { deviceId } });
  return (await (orNull ? nullIfRefused(detail, Code.deviceNotFound) : detail))?.serialNumber ?? null;
}

function numbered(key: Key): NumberedKey {
  const { serialNumber, problem } = key;
  if (serialNumber !== null) return { ...key, serialNumber };
  throw new Fault('hardware', `the key has no readable serial number (${nameOf(key)})`, problem);
}
