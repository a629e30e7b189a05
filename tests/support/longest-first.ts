/**
 * The order of the test files. The files below come first, in this order; Vitest orders the others by their last duration, or by size
 * in a fresh clone. Files that share a process come last, one after the other: a worker ends as soon as the next file wants its own, and
 * the next one that shares has to load all modules again.
 */
import { join, relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { isChosen } from './runs.ts';

/** Files that take 5 s or more of processor time, with the processes that they start. */
export const busy: readonly string[] = [
  'contract/store-postgres',
  'contract/blobs-s3',
  'console/devices',
  'cli/daemon',
  'cli/enroll',
  'faults/crash',
  'cli/daemon-restart',
  'cli/first-starts',
  'contract/store-sqlite',
  'cli/terminal',
  'api/documents-postman',
  'api/documents-openapi',
  'cli/known-servers',
  'api/limits',
  'cli/roster',
  'contract/store-sqlite-lists',
  'security/json-shape',
  'cli/issuing',
  'api/issuing',
  'api/roles',
  'cli/pickers',
  'cli/enroll-issuing',
  'cli/completion',
  'contract/store-broken',
  'contract/store-sqlite-faults',
  'cli/commands',
  'cli/closed-pipe',
  'security/tokens',
  'hardware/enroll',
  'api/model',
  'cli/receipts',
  'cli/seeing',
  'cli/spool-flush',
  'cli/watch-exec',
  'contract/shared-limits',
  'api/file-bounds',
  'contract/store-sqlite-sets',
  'cli/prompts',
  'cli/verify',
  'cli/output-everywhere',
  'cli/watch',
  'cli/profiles',
  'docs/recordings',
  'cli/secret-files',
  'api/idempotency',
  'cli/first-login',
  'cli/spool',
  'cli/roster-issuing',
  'console/every-page',
  'api/on-postgres',
  'cli/registry-refused',
  'faults/upload-large',
  'faults/database-backup',
  'faults/object-store',
  'faults/several-daemons',
  'api/malformed',
  'security/flood',
  'faults/copy',
  'hardware/card-fuzz',
  'docs/blocks',
  'console/station',
  'faults/daemon-postgres',
  'faults/maintenance',
  'console/frame',
  'faults/drain',
  'faults/recovery',
  'hardware/key-fuzz',
  'faults/restore-crash',
  'faults/webhooks',
  'security/freeze',
  'faults/secrets',
  'console/devices-bulk',
  'console/packages',
  'console/approvals',
  'console/links',
  'faults/backup-encrypted',
  'faults/audit-forward',
  'console/security-keys',
  'console/users',
  'console/tokens',
  'console/device',
  'faults/write-errors',
];

/** Files that take 12 s or more and use little processor time: they wait for pcscd, for timeouts and for an object store. */
export const waiting: readonly string[] = [
  'hardware/pcsc-faults',
  'cli/bad-servers',
  'hardware/key-card',
  'cli/completion-shells',
  'hardware/pcsc-service',
  'cli/sessions',
  'hardware/pcsc-cards',
  'contract/driver-pcsc',
  'cli/exit-codes',
  'cli/bulk-interrupted',
  'cli/sso',
];

/** The busy files with a waiting one before every four: waiting files that run side by side leave processors idle. */
export const firstFiles: readonly string[] = busy
  .flatMap((name, index) => [...(index % 4 === 0 ? waiting.slice(index / 4, index / 4 + 1) : []), name])
  .map(name => `${name}.test.ts`);

const ranks = new Map(firstFiles.map((file, rank) => [file, rank]));
const tests = join(import.meta.dirname, '..');
const root = join(tests, '..');
const rankOf = ({ moduleId }: TestSpecification): number => ranks.get(relative(tests, moduleId)) ?? ranks.size;

const sharesOf = ({ project }: TestSpecification): number => Number(!project.config.isolate);

/** Chooses the files of a run, and orders them for Vitest. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const chosen = files.filter(({ moduleId }) => isChosen(relative(root, moduleId)));
    return (await super.sort(chosen)).sort((a, b) => sharesOf(a) - sharesOf(b) || rankOf(a) - rankOf(b));
  }
}
