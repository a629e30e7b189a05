/** Finds the provider that a command is about. */
import type { ProviderItem } from '../../../../contract/providers.ts';
import type { Client } from '../../../client/client.ts';
import { Fault } from '../../../fault.ts';
import type { ArgShape } from '../../../framework/flags.ts';

/** The argument that names a provider. */
export const providerArg: ArgShape = { name: 'PROVIDER', help: 'name or id of the provider', offer: 'provider' };

/** The provider with this name or id. */
export async function findProvider(registry: Client, named: string): Promise<ProviderItem> {
  const { list } = await registry.call('listProviders');
  const found = list.find(({ providerId, name }) => providerId === named || name === named);
  if (!found) throw new Fault('absent', `provider "${named}" does not exist`, 'see: devmgr idp list');
  return found;
}
