/** Persons as records: their columns and actions. */
import type { Person } from '../../../src/contract/people.ts';
import { call } from '../../api/request.ts';
import { isAdmin } from '../../api/session.ts';
import { lazyDialog } from '../../parts/lazy.tsx';
import type { RecordKind } from '../../parts/records.tsx';
import { Moment } from '../../parts/time.tsx';
import { go, linkTo } from '../../router.ts';
import { grouped } from '../../text/numbers.ts';
import { people as words } from '../../text/words.ts';
import { devicesOf } from './states.ts';

const Leave = lazyDialog(async () => (await import('./dialogs.tsx')).Leave);
const Erase = lazyDialog(async () => (await import('./erase.tsx')).Erase);

const columns = {
  userName: ({ personId, userName }: Person) => <a href={linkTo(`people/${personId}`)}>{userName}</a>,
  name: ({ name }: Person) => name,
  email: ({ email }: Person) => email,
  groups: ({ groups }: Person) => groups.join(', '),
  source: ({ source }: Person) => words.sources[source],
  devices: (person: Person) => <a href={devicesOf(person)}>{grouped(person.devices)}</a>,
  left: ({ leftAt }: Person) => leftAt && <Moment at={leftAt} />,
};
type PersonColumn = keyof typeof columns;

/** Columns that the person may see: the registry has no e-mail address for a DEALER. */
export const shownColumns = () =>
  Object.fromEntries(Object.entries(columns).filter(([name]) => isAdmin.value || name !== 'email')) as typeof columns;

/** Actions on persons. */
export const people: RecordKind<Person, PersonColumn, 'leave' | 'back' | 'erase'> = {
  keyOf: ({ personId }) => personId,
  nameOf: ({ userName }) => userName,
  columns,
  rowHead: 'userName',
  classes: { devices: 'number', groups: 'minor', source: 'minor' },
  sorts: {
    userName: ({ userName }) => userName,
    name: ({ name }) => name,
    email: ({ email }) => email,
    groups: ({ groups }) => groups.join(', ') || null,
    source: ({ source }) => words.sources[source],
    devices: ({ devices }) => devices,
    left: ({ leftAt }) => leftAt && Date.parse(leftAt),
  },
  actions: {
    leave: { Dialog: Leave, isDangerous: true, isFor: ({ active }) => isAdmin.value && active },
    back: {
      async carryOut({ personId }, key) {
        await call('personReturns', { params: { personId } }, { key });
        // The page of the person lists what could be unlocked: nothing is unlocked automatically.
        go(linkTo(`people/${personId}`));
      },
      isFor: ({ active }) => isAdmin.value && !active,
    },
    erase: { Dialog: Erase, isDangerous: true, isFor: ({ active }) => isAdmin.value && !active },
  },
};
