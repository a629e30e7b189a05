/** The credentials of a device at providers. */
import type { CredentialItem } from '../../../src/contract/providers.ts';
import { call } from '../../api/request.ts';

/** With the name of its provider. */
export type NamedCredential = CredentialItem & { readonly provider: string };

/** The credentials of a device, also removed ones. Without credentials, providers are not asked for. */
export async function readCredentials(deviceId: string, signal: AbortSignal): Promise<readonly NamedCredential[]> {
  const list = await call('listCredentials', { params: { deviceId } }, { signal });
  if (list.length === 0) return [];
  const { list: providers } = await call('listProviders', {}, { signal });
  const names = new Map(providers.map(({ providerId, name }) => [providerId, name]));
  return list.map(one => ({ ...one, provider: names.get(one.providerId) ?? one.providerId }));
}
