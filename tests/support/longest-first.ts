/**
 * The order of the test files. The files below come first, in this order; Vitest orders the others by their last duration, or by size
 * in a fresh clone. Files that share a process come last, one after the other: a worker ends as soon as the next file wants its own.
 */
import { join, relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take 12 s or more, in this order: each uses a processor for much of its time. */
export const busy: readonly string[] = [
  'cli/daemon',
  'contract/store-postgres',
  'cli/daemon-restart',
  'docs/blocks',
  'faults/several-daemons',
  'contract/store-broken',
  'api/malformed',
  'hardware/card-fuzz',
  'faults/database-backup',
  'cli/registry-refused',
  'cli/enroll',
  'cli/known-servers',
  'cli/pickers',
  'cli/spool-flush',
  'faults/copy',
  'cli/terminal',
  'cli/prompts',
  'faults/upload-large',
  'cli/sessions',
  'cli/hostile-server',
  'cli/roster',
  'cli/completion-shells',
  'faults/object-store',
  'api/on-postgres',
  'console/frame',
  'faults/secrets',
  'cli/watch-exec',
  'cli/seeing',
  'cli/verify',
  'console/devices',
  'faults/recovery',
  'security/flood',
  'security/revocation-elsewhere',
  'console/bench',
  'cli/backups',
  'cli/bulk',
  'faults/restore-crash',
  'cli/commands',
  'faults/crash',
  'cli/tags',
  'cli/register-existing',
  'contract/store-postgres-standby',
  'faults/drain',
  'contract/store-sqlite-faults',
  'cli/first-login',
  'faults/maintenance',
  'console/device',
  'faults/stop',
  'cli/tokens',
  'faults/readiness',
  'cli/keys-elsewhere',
  'faults/reload',
  'cli/output',
  'docs/recordings',
  'contract/store-sqlite-lists',
  'contract/store-sqlite',
  'cli/exit-codes',
];

/** Files that take 12 s or more and use little processor time: they wait for pcscd, for timeouts and for an object store. */
export const waiting: readonly string[] = [
  'hardware/pcsc-faults',
  'cli/bad-servers',
  'hardware/key-card',
  'contract/blobs-s3',
  'hardware/pcsc-service',
  'hardware/pcsc-cards',
  'contract/driver-pcsc',
];

/** The busy files with a waiting one before every four: waiting files that run side by side leave processors idle. */
export const firstFiles: readonly string[] = busy
  .flatMap((name, index) => [...(index % 4 === 0 ? waiting.slice(index / 4, index / 4 + 1) : []), name])
  .map(name => `${name}.test.ts`);

const ranks = new Map(firstFiles.map((file, rank) => [file, rank]));
const tests = join(import.meta.dirname, '..');
const rankOf = ({ moduleId }: TestSpecification): number => ranks.get(relative(tests, moduleId)) ?? ranks.size;

const sharesOf = ({ project }: TestSpecification): number => Number(!project.config.isolate);

/** Orders the files for Vitest. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((a, b) => rankOf(a) - rankOf(b) || sharesOf(a) - sharesOf(b));
  }
}
