/** How commands name providers, and the flags of those that issue keys. */
import { pinBounds } from '../../../contract/limits.ts';
import type { ProviderItem } from '../../../contract/providers.ts';
import type { Client } from '../../client/client.ts';
import { Fault } from '../../fault.ts';
import { type ArgShape, type FlagShapes, fileFlag } from '../../framework/flags.ts';

/** Flags of commands that issue keys. */
export const issueFlags = {
  provider: { value: 'PROVIDER', aliases: ['for'], many: true, offer: 'provider', help: 'provider by name or id' },
  pin: {
    value: 'KIND',
    help: 'PIN of the key: ask (default), random[:DIGITS] for a random first PIN that is stored encrypted, or none',
  },
  'pin-file': fileFlag('read the PIN from the first line of a file; - is standard input'),
  'change-pin': { help: 'the person must change the PIN before the first sign-in' },
  'min-pin': {
    value: 'N',
    whole: { min: pinBounds.least, max: pinBounds.most },
    help: 'minimum length of the PIN from now on, in characters',
  },
} as const satisfies FlagShapes;

/** The argument that names a provider. */
export const providerArg: ArgShape = { name: 'PROVIDER', help: 'name or id of the provider', offer: 'provider' };

/** Flags that choose what a provider gives. */
export const partFlags = {
  'sign-in': { help: 'only sign-in' },
  people: { help: 'only people' },
  keys: { help: 'only keys' },
} as const satisfies FlagShapes;

/** The error of a name that no provider has, or none that gives what was asked for. */
export const absentProvider = (named: string, why = ''): Fault =>
  new Fault(
    'absent',
    `provider "${named}" does not ${why === '' ? 'exist' : `give that${why}`}`,
    'see: devmgr providers list',
  );

/** The provider at which keys are issued with this name or id. */
export async function findProvider(registry: Client, named: string): Promise<ProviderItem> {
  const { list } = await registry.call('listProviders');
  const found = list.find(({ providerId, name }) => providerId === named || name === named);
  if (!found) throw absentProvider(named);
  return found;
}
