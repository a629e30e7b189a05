/** The words of the console in English. Any other language has the same entries: the type checker compares them. */
import { statisticsRange } from '../../src/contract/values.ts';
import { grouped } from './numbers.ts';

const s = (count: number, one: string, many = `${one}s`) => `${grouped(count)} ${count === 1 ? one : many}`;

/** Every text of the console. An entry is a text, or a function of what it names. */
export const en = {
  /** Of the language (BCP 47). */
  code: 'en',
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
    terminal: 'Sign in a terminal',
  },
  account: {
    keys: 'Security keys',
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
    keyKnown: 'This key is already registered.',
    noKey: 'No security key was used: it was canceled, took too long, or no key fits. Try again.',
    keyAddress:
      'You must sign in with a security key, and browsers use none at this address. Open the console over HTTPS or at localhost.',
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
    codesExpiring: `codes that expire within ${statisticsRange.codesDays} days`,
    unused: `active, not used for ${statisticsRange.unusedDays} days`,
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
    whole: 'The journal begins here.',
  },
  role: { ADMIN: 'administrator', DEALER: 'dealer', VIEWER: 'viewer' },
  roleMay: {
    ADMIN: 'May do everything.',
    DEALER: 'Handles devices and their backups, but not users, tokens and uploads.',
    VIEWER: 'Reads, without activation codes.',
  },
  grade: { none: 'unproved', claimed: 'claimed', model: 'model proved', unit: 'unit proved', failed: 'failed' },
  action: {
    LOCK: 'Lock',
    UNLOCK: 'Unlock',
    ACTIVATE: 'Activate',
    GENERATE_CODE: 'New code',
    DEACTIVATE: 'Retire',
  },
  entry: {
    reason: 'Reason',
    note: 'Note (optional)',
    validityDays: 'Days for which the code is valid',
    password: 'Password of an administrator',
    userId: 'User',
    activationCode: 'Activation code',
  },
};

/** The entries that a language has. */
export type Dictionary = typeof en;
