/** The letter of a PIN: a label with it, on a printer in the network. A queue of the system would store what it prints. */
import type { DeviceListItem } from '../../../contract/devices.ts';
import { pinBounds } from '../../../contract/limits.ts';
import { counted } from '../../count.ts';
import { Fault, usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { resolveDevice } from '../../framework/devices/device.ts';
import { type FlagShapes, type FlagValues, fileFlag } from '../../framework/flags.ts';
import { personsOf } from '../../framework/persons.ts';
import { present } from '../../framework/present.ts';
import { safe } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';
import { printerFlags, printerSeconds } from '../enrollment/labels/flags.ts';
import { pinLabelOf } from '../enrollment/labels/outputs.ts';
import { networkPrinter } from '../enrollment/labels/printer.ts';
import { opened } from './sealed-pin.ts';

/** Flags that name the printer of letters and their template. */
export const letterFlags = {
  printer: { value: 'HOST', help: printerFlags.printer.help },
  template: { ...printerFlags.template, needs: 'printer', help: 'ZPL with {pin} and other placeholders' },
  dpi: { ...printerFlags.dpi, needs: 'printer' },
} as const satisfies FlagShapes;

/** Prints the letter of a PIN; it cannot be printed without one. */
export type PrintLetter = (deviceId: string, pin: string) => Promise<void>;

/** The printing of letters by the flags; null without a printer. Throws a usage fault if the template is not valid or lacks the PIN. */
export function letterOf(
  { registry }: Context,
  { printer: host, template, dpi }: FlagValues<typeof letterFlags>,
): PrintLetter | null {
  if (host === undefined) return null;
  const printer = networkPrinter(host, printerSeconds);
  const label = pinLabelOf({ template, dpi });
  return async (deviceId, pin) => {
    const device: DeviceListItem = await registry.call('getDevice', { params: { deviceId } });
    const [person] = device.userId === null ? [] : await personsOf(registry, [device.userId]);
    await printer.print(label({ ...device, name: person?.[1].name ?? null, pin }));
  };
}

/** Opens the sealed PIN of a key: shows it, or prints its letter. */
export const pinLetter = command({
  description:
    'Opens the PIN that keys issue --pin random has stored, with the identity of a recipient. Only an ADMIN can open it, and the journal records each opening.\nWith --printer, the PIN is printed and not shown. Print queues of the system are not supported, because they would store the letter.',
  args: [{ name: 'DEVICE', help: 'deviceId or serial number', offer: 'device' }],
  flags: {
    earlier: {
      value: 'N',
      whole: { min: 1, max: pinBounds.earlier },
      help: 'an earlier PIN, if the key does not accept the last one; 1 is the newest',
    },
    'identity-file': fileFlag('file with age identities, one on each line'),
    ...letterFlags,
  },
  examples: {
    'show the PIN': 'keys letter UK-2026-000001 --identity-file identity',
    'print it': 'keys letter DEV-1 --identity-file identity --printer 10.0.0.9',
  },
  async run({ args, flags }, context) {
    if (flags.identityFile === undefined) throw usage('no identity is named', 'name its file: --identity-file FILE');
    const print = letterOf(context, flags);
    const deviceId = await resolveDevice(context, args[0], false);
    const { sealed, earlier, storedAt, openedAt } = await context.registry.call('readPin', { params: { deviceId } });
    const chosen = flags.earlier === undefined ? sealed : earlier[flags.earlier - 1];
    if (!chosen) throw absentPin(deviceId, earlier.length, flags.earlier !== undefined);
    const pin = await opened(context, chosen, flags.identityFile);
    await print?.(deviceId, pin);
    await present(context, {
      data: { deviceId, storedAt, openedAt, ...(print ? {} : { pin }) },
      id: print ? deviceId : pin,
      title: print ? `The PIN of ${safe(deviceId)} is printed` : `The PIN of ${safe(deviceId)}`,
      rows: [
        ['PIN', print ? null : safe(pin)],
        ['made', flags.earlier === undefined && storedAt !== null ? localTime(storedAt) : null],
        ['opened before', openedAt === null ? 'never' : localTime(openedAt)],
      ],
    });
  },
});

/** `earlier`: how many earlier PINs are stored. */
function absentPin(deviceId: string, earlier: number, isEarlier: boolean): Fault {
  const what = isEarlier
    ? `${deviceId} has ${counted(earlier, 'earlier PIN')}`
    : 'no PIN of this device is stored since its key was reset';
  return new Fault('absent', what, earlier === 0 ? null : 'open an earlier one: --earlier N');
}
