/** Consequences for the devices of persons who leave. */
import { userIds } from '../../src/contract/ids.ts';
import { WithParts } from '../requests/context.ts';
import type { Change, ChangeResult } from '../store/commit.ts';
import type { Store } from '../store/store.ts';
import { leaverReason } from './decisions.ts';
import type { BrakeTotals } from './leaver-brake.ts';
import type { PeoplePolicies } from './policies.ts';
import { leaverRuleOf } from './policy.ts';
import type { PersonFilter } from './queries.ts';
import type { PersonLeave, PersonRecord } from './records.ts';

/** Devices that a leave has changed, by number. */
type LeaverResult = Extract<ChangeResult, { kind: 'left' }>;

type LeaveStep = Pick<PersonLeave, 'step' | 'reason'> & Partial<Pick<PersonLeave, 'endedBy' | 'isRemoved'>>;

/** Persons that are read at a time. */
const PORTION = 500;
/** Locked devices of a person that are named. */
const MAX_LOCKED = 1000;

/** Makes the changes of leavers. */
export class Leavers extends WithParts<{ readonly store: Store; readonly policies: Pick<PeoplePolicies, 'read'> }> {
  /** The changes of leaving for these persons, one for each, in order. `userName`: the name after the commit, which may also change it. */
  async changes(
    persons: readonly Pick<PersonRecord, 'number' | 'userName'>[],
    { step, reason, endedBy = null, isRemoved = false }: LeaveStep,
  ): Promise<PersonLeave[]> {
    const [{ config }, totals, ...accounts] = await Promise.all([
      this.parts.policies.read(),
      this.totals(),
      ...persons.map(({ userName }) => this.parts.store.usersNamed(userName)),
    ]);
    const rule = leaverRuleOf(config);
    return persons.map(({ number, userName }, i) => ({
      kind: 'person.leave',
      step,
      person: number,
      userName,
      reason,
      endedBy,
      rule,
      ...totals,
      accountIds: accounts[i]!.map(account => userIds.format(account.number)),
      isRemoved,
    }));
  }

  /** Totals that the brake compares with. */
  async totals(): Promise<BrakeTotals> {
    const [activeDevices, { total: accounts }] = await Promise.all([
      activeTotal(this.parts.store),
      this.parts.store.users({ descending: false, offset: 0, limit: 1 }),
    ]);
    return { activeDevices, accounts };
  }

  /** The change, whose new user name the brake can hold. */
  async braked<C extends Change>(change: C): Promise<C> {
    return change.kind === 'person.set' && change.renamed ? { ...change, brake: await this.totals() } : change;
  }

  /** The devices of a person that were locked because the person left, and are still locked. */
  async lockedDevices({ number: person, reason, source }: PersonRecord): Promise<number[]> {
    const lockReason = reason ?? leaverReason(source);
    const devices = await this.parts.store.devicesOf(person);
    const locked = devices.filter(device => device.status === 'LOCKED' && device.lockReason === lockReason);
    return locked.slice(0, MAX_LOCKED).map(({ number }) => number);
  }
}

/** The effect of a leaver's change. */
export function leaverResult(results: readonly ChangeResult[]): LeaverResult {
  const result = results.find(({ kind }) => kind === 'left');
  if (result?.kind !== 'left') throw new Error('the commit has no leaver');
  return result;
}

/** All persons who match, in the order in which they were added. */
export async function* personPortions(
  store: Pick<Store, 'people'>,
  filter: PersonFilter,
): AsyncGenerator<readonly PersonRecord[]> {
  for (let after = 0; ; ) {
    const { rows } = await store.people({ ...filter, after, descending: false, offset: 0, limit: PORTION });
    yield rows;
    if (rows.length < PORTION) return;
    after = rows.at(-1)!.number;
  }
}

/** How many devices are ACTIVE. */
async function activeTotal(store: Pick<Store, 'devices'>): Promise<number> {
  const page = { sortBy: 'createTime', descending: true, offset: 0, limit: 1 } as const;
  return (await store.devices({ status: ['ACTIVE'], ...page })).total;
}
