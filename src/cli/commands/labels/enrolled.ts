/** The label of each key that an enrollment registers. A printer that fails loses no enrollment: the row has the reason. */
import { usage } from '../../fault.ts';
import type { FlagShapes, FlagValues } from '../../flags.ts';
import type { EnrolledKey } from '../enroll/enroll-key.ts';
import { labelOf, printerFlags, printerOf, printerSeconds } from './outputs.ts';
import type { LabelDevice } from './placeholders.ts';

/** Flags of an enrollment that prints labels. */
export const keyLabelFlags = {
  label: { help: 'print the label of each key that is registered; see devmgr label' },
  printer: { ...printerFlags.printer, needs: 'label' },
  lp: { ...printerFlags.lp, needs: 'label' },
  template: { ...printerFlags.template, needs: 'label' },
  dpi: { ...printerFlags.dpi, needs: 'label' },
} as const satisfies FlagShapes;

/** Prints the label of a key that was registered. Returns its row, which says whether the label is printed. */
export type KeyLabel = (key: EnrolledKey) => Promise<EnrolledKey>;

/** What the flags ask for; null without `--label`. Throws a usage fault if they name no printer. */
export function keyLabelOf(flags: FlagValues<typeof keyLabelFlags>): KeyLabel | null {
  if (!flags.label) return null;
  const printer = printerOf(flags, printerSeconds);
  if (printer === null) throw usage('no printer is named', '--label needs --printer HOST or --lp');
  const label = labelOf(flags);
  return async key => {
    if (key.result !== 'registered' || key.deviceId === null) return key;
    try {
      await printer.print(label(deviceOf(key)));
      return { ...key, label: 'printed' };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const failed = `label: failed: ${why}`;
      return { ...key, label: 'failed', message: key.message === null ? failed : `${key.message}; ${failed}` };
    }
  };
}

const deviceOf = (key: EnrolledKey): LabelDevice => ({
  deviceId: key.deviceId as LabelDevice['deviceId'],
  deviceType: key.deviceType,
  serialNumber: key.serialNumber ?? '',
  manufacturer: key.manufacturer,
  model: key.model,
  status: key.status ?? 'INACTIVE',
  userId: key.userId,
  activationCode: key.activationCode as LabelDevice['activationCode'],
  tags: key.tags ?? {},
});
