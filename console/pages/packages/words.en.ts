/** The words of the page Packages in English. */
import { grouped } from '../../text/numbers.ts';

/** Every text in English. Other languages have the same entries: the type checker compares them. */
export const en = {
  title: 'Packages',
  total: (count: number) => `${grouped(count)} ${count === 1 ? 'package' : 'packages'}`,
  empty: 'No package has been uploaded yet.',
  platform: 'Platform',
  all: 'all platforms',
  column: {
    version: 'Version',
    platform: 'Platform',
    file: 'File',
    size: 'Size',
    digest: 'SHA-256',
    uploaded: 'Uploaded',
    actions: 'Actions',
  },
  newest: 'newest',
  forced: 'forces an update',
  oldest: (version: string) => `oldest supported: ${version}`,
  changes: 'Changes',
  by: (name: string) => `by ${name}`,
  download: 'Download',
  downloadOf: (name: string) => `Download ${name}`,
  tooLarge: 'This browser cannot save a file of this size. On the command line:',
  saved: (name: string) => `${name} was saved; its SHA-256 is right.`,
  damaged: (name: string) => `${name} arrived damaged: its SHA-256 is wrong. Nothing was saved. Download it again.`,
  progress: (done: string, total: string) => `${done} of ${total}`,
  upload: 'Upload package',
  file: 'Package',
  version: 'Version number',
  versionName: 'Display name (optional)',
  changelog: 'Changes (optional)',
  oldestSupported: 'Oldest supported version (optional)',
  forceUpdate: 'Older clients must update',
  wrongFile: (extensions: string) => `The file is not an installer package: ${extensions}.`,
  emptyFile: 'The file is empty.',
  largeFile: (most: string) => `The file is larger than ${most}.`,
  wrongVersion: 'Up to four numbers with dots, then - or + parts, such as 1.0.0 or 1.2.0-rc.1.',
  exists: (id: string) => `This version was already uploaded as ${id}. Choose another version number.`,
  sending: (name: string) => `Sending ${name}`,
  checking: 'The package is stored. The SHA-256 is being compared …',
  cancel: 'Cancel upload',
  canceled: 'The upload was canceled.',
  limit: (minutes: number) =>
    `You can upload ten packages an hour. Try again in ${grouped(minutes)} ${minutes === 1 ? 'minute' : 'minutes'}.`,
  same: 'The SHA-256 of the file and of the daemon are the same.',
  different:
    'The daemon stored something else than this file. Do not distribute it; upload the file under another version.',
  notCompared: 'The package is stored. The file could not be read again, so its SHA-256 was not compared.',
  ofFile: 'SHA-256 of the file',
  ofDaemon: 'SHA-256 of the daemon',
  uploaded: (id: string) => `Uploaded as ${id}`,
};

/** What the page has as words, in each language. */
export type PackageWords = typeof en;
