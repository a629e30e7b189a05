/** The words of the console in English. Any other language has the same entries: the type checker compares them. */
import { grouped } from './numbers.ts';

const s = (count: number, one: string, many = `${one}s`) => `${grouped(count)} ${count === 1 ? one : many}`;

/** Every text of the console. An entry is a text, or a function of what it names. */
export const en = {
  language: 'English',
  nav: {
    label: 'Pages',
    overview: 'Overview',
    devices: 'Devices',
    bench: 'Bench',
    activity: 'Activity',
    packages: 'Packages',
    users: 'Users',
    tokens: 'Tokens',
    account: 'Account',
  },
  signIn: {
    title: 'Sign in',
    username: 'User name',
    password: 'Password',
    submit: 'Sign in',
    expired: 'Your session has ended. Sign in again.',
    code: 'This link was used before or is older than 30 seconds. Run devmgr open again, or sign in.',
    wrong: 'User name or password is wrong.',
    local: 'On the machine of the daemon, `devmgr open` opens this page signed in.',
  },
  account: {
    signOut: 'Sign out',
    theme: 'Colors',
    light: 'light',
    dark: 'dark',
    system: 'as the system',
    language: 'Language',
  },
  stream: {
    connecting: 'connecting …',
    live: 'live',
    lost: 'Connection lost: what you see may be old. Reconnecting …',
  },
  problem: {
    title: 'That did not work',
    noAnswer: 'The daemon does not answer. Check that it runs, then try again.',
    forbidden: 'Your role does not allow this.',
    limited: (seconds: number) => `Too many requests: this one is sent again in ${s(seconds, 'second')}.`,
    requestId: (id: string) => `Request ${id}`,
    retry: 'Try again',
    crashed: 'This page has failed. Reload it; the registry is not affected.',
  },
  common: {
    cancel: 'Cancel',
    close: 'Close',
    save: 'Save',
    remove: 'Remove',
    loading: 'Loading …',
    none: 'None',
    unknownPage: 'This page does not exist.',
    never: 'never',
    previous: 'Previous',
    next: 'Next',
    optional: 'optional',
    copy: 'Copy',
    copied: 'Copied',
    page: (page: number, pages: number) => `Page ${grouped(page)} of ${grouped(pages)}`,
  },
  status: { INACTIVE: 'inactive', ACTIVE: 'active', LOCKED: 'locked', DEACTIVATED: 'deactivated' },
  type: { UKEY: 'USB key', SIMKEY: 'SIM key' },
  types: { UKEY: 'USB keys', SIMKEY: 'SIM keys' },
  event: {
    DEVICE_REGISTERED: 'registered',
    DEVICE_ACTIVATED: 'activated',
    DEVICE_LOCKED: 'locked',
    DEVICE_UNLOCKED: 'unlocked',
    DEVICE_DEACTIVATED: 'deactivated',
    DEVICE_UPDATED: 'updated',
    ACTIVATION_CODE_GENERATED: 'new activation code',
    APP_VERSION_UPLOADED: 'package uploaded',
    KEY_ATTACHED: 'plugged in',
    KEY_DETACHED: 'unplugged',
  },
  overview: {
    title: 'Overview',
    devices: 'devices',
    perHour: 'Registrations per hour',
    perDay: 'Registrations per day',
    codesExpiring: 'codes that expire within 30 days',
    unused: 'active, not used for 90 days',
    newest: 'Newest events',
    noEvents: 'Nothing has happened yet.',
  },
  chart: {
    sum: (count: number) => `${grouped(count)} in all`,
    table: 'As a table',
    time: 'Time',
    count: 'Registrations',
  },
  activity: {
    title: 'Activity',
    types: 'Show only',
    earlier: 'Earlier events',
    whole: 'That is where the journal begins.',
  },
};

/** The entries that a language has. */
export type Dictionary = typeof en;
