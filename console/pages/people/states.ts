/** State of persons for the pages. */
import type { Notification } from '../../../src/contract/events.ts';
import type { HeldPerson, Person } from '../../../src/contract/people.ts';
import { useRefresh } from '../../api/live.ts';
import { call } from '../../api/request.ts';
import { type Resource, useResource } from '../../api/resource.ts';
import { isAdmin } from '../../api/session.ts';
import { linkTo } from '../../router.ts';

/** The list of all devices of a person. */
export const devicesOf = ({ userName }: Person): string => linkTo('devices', { userId: userName });

/** Whether one of the events is about a person. */
export const isOfPersons = (events: readonly Notification[]): boolean =>
  events.some(({ type }) => type.startsWith('PERSON_') || type.startsWith('CASE_'));

/** The leavers who wait for a release, with their devices as they are now; none for other roles than ADMIN. */
export function useHeld(): Resource<readonly HeldPerson[]> {
  const held = useResource(async signal => (isAdmin.value ? (await call('listHeldPeople', {}, { signal })).list : []));
  useRefresh(held.reload, events => isOfPersons(events) || (held.data.peek()?.length ?? 0) > 0);
  return held;
}
