/** Choices of the search for the typed text. */
import type { DeviceStatus } from '../../src/contract/values.ts';
import type { Data } from '../api/request.ts';
import { mayChange, session } from '../api/session.ts';
import { signOut } from '../api/tabs.ts';
import { isShown, pages } from '../pages.tsx';
import type { SingleOperation } from '../parts/device-columns.tsx';
import { addDevice, opened } from '../parts/open.ts';
import { prefer } from '../preferences.ts';
import { go, linkTo } from '../router.ts';
import { text, palette as words } from '../text/words.ts';

type FoundDevice = Data<'listDevices'>['list'][number];
type FoundPerson = Data<'listPeople'>['list'][number];
type ChoiceGroup = 'recent' | 'devices' | 'targets' | 'persons' | 'records' | 'lists' | 'pages' | 'commands';

/** Matches of the typed text in the registry. */
export type PaletteResults = Readonly<{ devices: readonly FoundDevice[]; persons: readonly FoundPerson[] }>;

/** A record with a page that a list of all of them finds: a lot, a station or an account. */
export type NamedRecord = Readonly<{ path: string; kind: string; name: string }>;

/** A line of the search. */
export interface Choice {
  readonly key: string;
  readonly group: ChoiceGroup;
  readonly words: string;
  readonly detail?: string;
  readonly status?: DeviceStatus;
  /** Each is the whole name of what is offered, in lower case. */
  readonly names?: readonly string[];
  readonly run: () => void;
}

/** The devices that were chosen last, of one person; they are not stored. */
let recent: { readonly owner: string | undefined; readonly list: readonly Choice[] } = { owner: undefined, list: [] };
const RECENT = 5;

/** Carries out what was chosen, and remembers devices. */
export function choose(choice: Choice): void {
  const owner = session.peek()?.user.id;
  if (choice.group === 'devices') {
    const others = recent.owner === owner ? recent.list.filter(({ words: each }) => each !== choice.words) : [];
    recent = {
      owner,
      list: [{ ...choice, key: `recent ${choice.key}`, group: 'recent' as const }, ...others].slice(0, RECENT),
    };
  }
  choice.run();
}

const to = (group: ChoiceGroup, path: string, label: string, query?: Record<string, string>): Choice => {
  const address = linkTo(path, query);
  return { key: `${group} ${address}`, group, words: label, run: () => go(address) };
};

/** The lists of devices that a text can mean. */
function listsFor(typed: string): Choice[] {
  if (!typed) return [];
  const isTag = /^[a-z][a-z0-9_-]*:./.test(typed);
  return [
    to('lists', 'devices', words.containing(typed), { search: typed }),
    to('lists', 'devices', words.ofUser(typed), { userId: typed }),
    ...(isTag ? [to('lists', 'devices', words.withTag(typed), { tag: typed })] : []),
  ];
}

const themes = ['light', 'dark', 'system'] as const;

function commands(): Choice[] {
  const actions = ['LOCK', 'UNLOCK', 'ACTIVATE', 'DEACTIVATE'] as const;
  const make = (label: string, run: () => void): Choice => ({ key: label, group: 'commands', words: label, run });
  return [
    ...(mayChange.value
      ? [
          make(text.common.addDevice, addDevice),
          ...actions.map(name => make(`${text.action[name]} …`, () => (opened.value = name))),
        ]
      : []),
    make(words.keys, () => (opened.value = 'keys')),
    ...themes.map(theme => make(`${text.menu.theme}: ${text.menu[theme]}`, () => prefer(() => ({ theme })))),
    make(text.menu.signOut, signOut),
  ];
}

const deviceOf = ({ deviceId, serialNumber, userId, status }: FoundDevice): Choice => ({
  ...to('devices', `devices/${encodeURIComponent(deviceId)}`, deviceId),
  detail: [serialNumber, userId].filter(Boolean).join(' · '),
  status,
  names: [deviceId.toLowerCase(), serialNumber.toLowerCase()],
});

const personOf = ({ personId, userName, name }: FoundPerson): Choice => ({
  ...to('persons', `people/${personId}`, name ?? userName),
  detail: userName,
});

/** The devices that a person can choose for an action. */
export const targetsOf = (name: SingleOperation, devices: readonly FoundDevice[]): Choice[] =>
  devices.map(device => ({
    ...deviceOf(device),
    group: 'targets',
    run: () => (opened.value = { name, deviceId: device.deviceId }),
  }));

const MOST_RECORDS = 6;

const recordOf = ({ path, kind, name }: NamedRecord): Choice => ({ ...to('records', path, name), detail: kind });

/** A lost key is locked here: the search finds it by the name of its person. */
const lockOf = (device: FoundDevice): Choice => ({
  ...deviceOf(device),
  key: `lock ${device.deviceId}`,
  group: 'commands',
  words: `${text.common.of(text.action.LOCK, device.deviceId)} …`,
  names: [],
  run: () => (opened.value = { name: 'LOCK', deviceId: device.deviceId }),
});

/** Devices, persons and other records that were found, lists, pages and commands; before anything is typed those chosen last. */
export function choicesFor(
  typed: string,
  { devices, persons }: PaletteResults,
  records: readonly NamedRecord[],
): Choice[] {
  const has = ({ words: each }: Choice) => each.toLowerCase().includes(typed.toLowerCase());
  const named = typed ? records.map(recordOf).filter(has).slice(0, MOST_RECORDS) : [];
  const lockable = typed && mayChange.value ? devices.filter(({ status }) => status === 'ACTIVE') : [];
  const found = [...devices.map(deviceOf), ...persons.map(personOf), ...lockable.map(lockOf), ...named];
  const shownPages = pages
    .filter(page => page.group && isShown(page))
    .map(({ name }) => to('pages', name === 'overview' ? '' : name, text.nav[name]));
  const last = typed || recent.owner !== session.value?.user.id ? [] : recent.list;
  return [...last, ...found, ...shownPages.filter(has), ...commands().filter(has), ...listsFor(typed)];
}

/** The choices by group, in their order. */
export const groupsOf = (choices: readonly Choice[]): readonly (readonly [ChoiceGroup, readonly Choice[]])[] =>
  [...Map.groupBy(choices, ({ group }) => group)] as const;
