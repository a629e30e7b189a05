/** The words for changes of settings and persons: those of the pages that set them. Loaded when such a change is shown. */
import { moment } from '../text/numbers.ts';
import { capitalized } from '../text/text.ts';
import { activity, people, policies, providers, text, tokens, trust, webhooks } from '../text/words.ts';

type Words = Readonly<Record<string, string>>;

/** The name of a field of an event; that of the interface if no page has one. */
export function fieldName(field: string, type = ''): string {
  const { requiredGrade, allowedAaguids, leastFirmware, identity } = policies.proof;
  const { may, networks: allowedFrom, expires: expiresAt } = tokens.column;
  const { added, updated: changed } = people.log.outcome;
  const names: Words = {
    ...{ ...text.column, ...people.column, ...people.policy, ...providers.setting, externalId: people.externalId },
    ...{ requiredGrade, allowedAaguids, leastFirmware, identity, recipients: policies.pin.field.recipients },
    ...{ may, allowedFrom, expiresAt, added, changed, active: people.state.active, user: text.nav.account },
    ...{ metadata: trust.kind.metadata, fingerprint: trust.column.fingerprint, types: webhooks.column.types },
    ...(type === 'DIRECTORY_SET' ? providers.field.ldap : type.startsWith('SSO_') ? providers.field.oidc : {}),
    ...{ ...activity.field, ...text.who.field },
  };
  return capitalized(names[field] ?? field);
}

/** The words for a value of a field, or for the values of a list; what has no words is as it is stored, but times are local. */
export function valueWords(field: string, value: string): string {
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return moment(value);
  const words: Readonly<Record<string, Words>> = {
    ...{ role: text.role, requireKey: text.role, may: tokens.permission, types: text.event },
    ...{ requiredGrade: policies.proof.grade, identity: policies.proof.identities, leavers: people.leavers },
    ...{ source: people.sources, type: providers.type, 'localAccounts.from': providers.localFrom },
  };
  const each: Words = { ...text.who.value, ...words[field] };
  return value
    .split(', ')
    .map(one => each[one] ?? one)
    .join(', ');
}
