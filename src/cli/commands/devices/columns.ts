/** The columns of a list of devices, apart from the commands: one that shows devices loads no other command. */
import type { DeviceListItem } from '../../../contract/devices.ts';
import { tagWords } from '../../framework/devices/tags.ts';
import type { Column } from '../../terminal/column.ts';
import { statusStyle } from '../../terminal/style.ts';
import { localTime } from '../../terminal/when.ts';
import { proofColumn } from './proof.ts';

/** A device, with the name of its person if that is shown. */
export type NamedDevice = DeviceListItem & { readonly name?: string | null };

/** Columns of a list of devices; `wide` adds those that there is seldom room for. On a live screen they are the first to go. */
export function deviceColumns({ wide = false, withProof = false, withName = false } = {}): Column<NamedDevice>[] {
  const columns: Column<NamedDevice>[] = [
    { title: 'DEVICE', value: device => device.deviceId },
    { title: 'TYPE', value: device => device.deviceType, drop: 2 },
    { title: 'SERIAL', value: device => device.serialNumber, shorten: 'middle', least: 16 },
    { title: 'STATUS', value: device => device.status, style: device => statusStyle(device.status) },
    { title: 'USER', value: device => device.userId, shorten: 'end', drop: 1 },
    ...(withName
      ? [{ title: 'NAME', value: ({ name }: NamedDevice) => name ?? null, shorten: 'end', drop: 3 } as const]
      : []),
    ...(wide || withProof ? [proofColumn<NamedDevice>(3)] : []),
    { title: 'MANUFACTURER', value: device => device.manufacturer, shorten: 'end', drop: 6 },
    { title: 'MODEL', value: device => device.model, shorten: 'end', drop: 7 },
    { title: 'CODE', value: device => (device.status === 'INACTIVE' ? device.activationCode : null), drop: 5 },
    { title: 'REGISTERED', value: device => localTime(device.createdAt), drop: 4 },
  ];
  if (!wide) return columns;
  return [
    ...columns,
    { title: 'ACTIVATED', value: device => localTime(device.activatedAt), drop: 9 },
    { title: 'LAST USED', value: device => localTime(device.lastUsedAt), drop: 8 },
    { title: 'TAGS', value: device => tagWords(device).join(' ') || null, shorten: 'end', drop: 10 },
  ];
}
