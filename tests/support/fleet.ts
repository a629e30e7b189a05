/** Devices, packages and backups for tests, made through the interface. */
import type { DeviceStatus } from '../../src/contract/values.ts';
import { type Answer, adminPassword, type TestDaemon } from './daemon.ts';

/** A daemon that answers requests: of this process or another one. */
export type Caller = Pick<TestDaemon, 'call'>;

export interface TestDevice {
  readonly deviceId: string;
  readonly serialNumber: string;
  readonly activationCode: string;
}

let made = 0;
/** A serial number that no other test has. */
export const freshSerial = (prefix = 'SN'): string => `${prefix}-${process.pid}-${++made}`;

export const registration = (more: Readonly<Record<string, unknown>> = {}) => ({
  deviceType: 'UKEY',
  serialNumber: freshSerial(),
  manufacturer: 'Feitian',
  model: 'ePass K9',
  ...more,
});

/** The data of an answer that has to be a success. */
export function data(answer: Answer): Answer['data'] {
  if (answer.code !== 200) throw new Error(`expected a success, got ${answer.code}: ${answer.message}`);
  return answer.data;
}

export async function register(
  daemon: Caller,
  more: Readonly<Record<string, unknown>> = {},
  token?: string,
): Promise<TestDevice> {
  const options = token === undefined ? {} : { token };
  return data(await daemon.call('POST', '/api/devices/register', registration(more), options));
}

export const activation = ({ deviceId, activationCode }: TestDevice, userId = 'alice') => ({
  deviceId,
  activationCode,
  userId,
});

/** A new device that has been brought to a state by the operations that lead there. */
export async function deviceIn(status: DeviceStatus, daemon: Caller): Promise<TestDevice> {
  const device = await register(daemon);
  const act = async (operation: string, body: object) =>
    data(await daemon.call('POST', `/api/devices/${device.deviceId}/${operation}`, body));
  if (status === 'INACTIVE') return device;
  if (status === 'DEACTIVATED') {
    await act('deactivate', { reason: 'worn out', confirmPassword: adminPassword });
    return device;
  }
  data(await daemon.call('POST', '/api/devices/activate', activation(device)));
  if (status === 'LOCKED') await act('lock', { reason: 'reported lost' });
  return device;
}

export interface FormFile {
  readonly name: string;
  readonly content: string | Uint8Array<ArrayBuffer>;
}

/** A multipart body with the file at the end. */
export function form(fields: Readonly<Record<string, string>>, file?: FormFile): FormData {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  if (file) body.append('file', new Blob([file.content]), file.name);
  return body;
}

const backupFile = { name: 'key.bak', content: 'an encrypted backup' };

export const backUp = (daemon: TestDaemon, deviceId: string, token?: string): Promise<Answer> =>
  daemon.call('POST', `/api/devices/${deviceId}/backups`, undefined, {
    raw: form({ note: 'before the trip' }, backupFile),
    ...(token === undefined ? {} : { token }),
  });

/** A package under a version that no other test has. */
export function packageForm(more: Readonly<Record<string, string>> = {}, file: Partial<FormFile> = {}): FormData {
  const fields = { platform: 'ANDROID', version: `1.${process.pid}.${++made}`, ...more };
  return form(fields, { name: 'devmgr.apk', content: 'an installer package', ...file });
}

export const upload = (daemon: TestDaemon, body: FormData = packageForm()): Promise<Answer> =>
  daemon.call('POST', '/api/app-versions/upload', undefined, { raw: body });
