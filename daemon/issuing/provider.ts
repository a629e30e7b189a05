/** Providers at which keys are issued for persons. Decisions only, no I/O. */
import { Code } from '../../src/contract/codes.ts';
import { providerIds } from '../../src/contract/ids.ts';
import { providerBounds } from '../../src/contract/limits.ts';
import { type ProviderSetting, providerSettings, settingsOfProvider } from '../../src/contract/provider-fields.ts';
import { isOwnType, type ProviderType } from '../../src/contract/values.ts';
import { inputRefusal, Refusal } from '../base/decision.ts';
import type { Binding } from '../base/sealed.ts';
import { type DocumentSet, type NumberedRecords, recordsIn, setRecords } from '../store/document.ts';

/** The document with the providers: the journal proves it. */
export const PROVIDERS = 'providers';

/** A provider as it is stored. */
export interface ProviderRecord extends Readonly<Record<ProviderSetting, string | null>> {
  /** The number in the id IDP-n: from 1, never used again. */
  readonly number: number;
  readonly name: string;
  readonly type: ProviderType;
  /** The secret, sealed for the number and the addresses. */
  readonly sealed: string;
  /** Milliseconds since 1970 (UTC). */
  readonly createdAt: number;
}

/** The providers of a registry. */
export type Providers = NumberedRecords<ProviderRecord>;

/** The providers in a document. */
export const providersIn = recordsIn<ProviderRecord>;

/** Fields in the binding of every secret, also if they are null. */
const BOUND_AT_FIRST = 6;

/** Binding of a secret: sealed for one provider, it opens for no other, and at no other address. */
export function providerBinding(provider: Pick<ProviderRecord, 'number' | 'type' | ProviderSetting>): Binding {
  const values = providerSettings.map(setting => provider[setting] ?? null);
  // Fields that came later are absent from the bindings of providers without them.
  while (values.length > BOUND_AT_FIRST && values.at(-1) === null) values.pop();
  return { subject: provider.number, place: JSON.stringify([provider.type, ...values]) };
}

/** RFC 6749, appendix A.2: the characters of a client secret. Node refuses most others in a header. */
const SENDABLE = /^[\x20-\x7e]+$/;

/** Refusal of the fields of a provider; null if there is none. */
export function providerProblem(
  provider: Pick<ProviderRecord, 'type' | ProviderSetting>,
  secret: string | null,
): Refusal | null {
  const isOwn = isOwnType(provider.type);
  if (isOwn && secret !== null) return inputRefusal('secret', `is not allowed for a provider of type ${provider.type}`);
  if (!isOwn && secret === null) return inputRefusal('secret', 'is required');
  if ((provider.verification ?? 'pin') !== 'pin') return inputRefusal('verification', 'must be pin, or absent');
  if (secret !== null && !SENDABLE.test(secret))
    return inputRefusal('secret', 'must have only printable ASCII characters, because it is sent in a header');
  const { needs, may } = settingsOfProvider(provider.type);
  for (const field of providerSettings) {
    if ((provider[field] ?? null) === null && needs.includes(field)) return inputRefusal(field, 'is required');
    if ((provider[field] ?? null) !== null && ![...needs, ...may].includes(field))
      return inputRefusal(field, `is not allowed for a provider of type ${provider.type}`);
  }
  return null;
}

/** Adds a provider, or refuses it. */
export function addProvider(providers: Providers, record: ProviderRecord): DocumentSet | Refusal {
  // Commands separate names with commas, and take ids in their place.
  if (record.name.includes(',') || providerIds.parse(record.name) !== null)
    return inputRefusal('name', 'must not contain a comma or be an id of a provider');
  if (providers.list.some(({ name }) => name === record.name))
    return inputRefusal('name', 'is the name of another provider');
  if (providers.list.length >= providerBounds.providers)
    return new Refusal(Code.parameterError, `the registry has ${providerBounds.providers} providers, the maximum`);
  return stored({ ...providers, last: record.number, list: [...providers.list, record] }, 'PROVIDER_ADDED', record);
}

/** Replaces the secret of a provider; null removes the provider. */
export const replaceProvider = (
  providers: Providers,
  record: ProviderRecord,
  after: ProviderRecord | null,
): DocumentSet => {
  const list = providers.list.flatMap(one => (one === record ? (after ?? []) : one));
  return stored({ ...providers, list }, after === null ? 'PROVIDER_REMOVED' : 'PROVIDER_SECRET_SET', record);
};

function stored(
  providers: Providers,
  type: 'PROVIDER_ADDED' | 'PROVIDER_SECRET_SET' | 'PROVIDER_REMOVED',
  { sealed: _, number, ...shown }: ProviderRecord,
): DocumentSet {
  const detail = { providerId: providerIds.format(number), ...shown };
  return setRecords(PROVIDERS, providers, { type, detail });
}
