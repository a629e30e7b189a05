/** Updates the persons of the registry from the directory. */
import type { DirectoryCounts, DirectoryReport } from '../../src/contract/directory.ts';
import { personIds } from '../../src/contract/ids.ts';
import { directoryBounds, refusedBounds } from '../../src/contract/limits.ts';
import { personKey } from '../../src/contract/person-key.ts';
import { KeyedMutex } from '../base/concurrency.ts';
import { Refusal } from '../base/decision.ts';
import type { Leavers } from '../people/leavers.ts';
import { readGroups } from '../people/lookups.ts';
import { addGroup, groupNamed } from '../people/policy.ts';
import type { RefusedRequests } from '../people/refused.ts';
import { type Context, nameOf, refused, retrying, Service, type ServiceParts } from '../requests/context.ts';
import type { Change } from '../store/commit.ts';
import type { Store } from '../store/store.ts';
import { apply } from './apply.ts';
import * as domain from './decisions.ts';
import { DirectoryFailure } from './ldap/connection.ts';
import type { LeftOutValue, SkippedEntry } from './ldap/person-entry.ts';
import type { DirectoryPosition, DirectoryReader } from './ldap/reader.ts';
import { type DirectoryContent, type GroupNumbers, type PlannedStep, plan } from './plan.ts';
import type { DirectorySettingsService } from './settings.ts';
import { TrialStore } from './trial.ts';

/** Dependencies of the service. */
interface DirectorySyncParts extends ServiceParts {
  readonly leavers: Leavers;
  readonly refused: Pick<RefusedRequests, 'add'>;
  readonly settings: DirectorySettingsService;
}

/** Options of a run. */
interface RunRequest {
  /** False: only entries that changed, if the directory can tell. */
  readonly isAll: boolean;
  readonly dryRun?: boolean | undefined;
  readonly acceptMissing?: boolean | undefined;
  /** Who started the run; absent if it was scheduled. */
  readonly context?: Context;
}

const noCounts: DirectoryCounts = { read: 0, new: 0, changed: 0, left: 0, back: 0, held: 0, skipped: 0 };

/** One run at a time. */
export class DirectorySync extends Service<DirectorySyncParts> {
  readonly #runs = new KeyedMutex<'run'>();
  /** Position from which the next run with these settings continues. A daemon without it reads all entries. */
  #reached: { readonly settings: string; readonly position: DirectoryPosition | null } | null = null;

  /** Compares and changes. A directory that cannot be read is a `problem` of the report, and changes nothing. */
  run(request: RunRequest, signal: AbortSignal): Promise<DirectoryReport> {
    return this.#runs.run('run', async () => {
      const report = await this.#read(request, signal).catch(error => {
        if (error instanceof DirectoryFailure) return failed(request, `the directory ${error.message}`);
        throw error;
      });
      if (!request.dryRun) await this.#record(request, report);
      const { isAll: _, unended: __, ...shown } = report;
      return shown;
    });
  }

  async #read(request: RunRequest, signal: AbortSignal) {
    const { settings } = this.parts;
    const content = await settings.open(signal, (reader, config) => this.#content(reader, config, request.isAll));
    const numbers = await this.#groupNumbers(content.config, request);
    const planned = await plan(this.store, content, numbers, request.acceptMissing ?? false);
    const trial = new TrialStore(this.parts);
    const target = request.dryRun
      ? { store: trial, commit: (changes: readonly Change[]) => trial.commit(changes) }
      : { store: this.store, commit: this.#committing(content.config, request) };
    const isBraked = !request.acceptMissing;
    await apply({ ...this.parts, ...target, numbers, isBraked, signal }, planned);
    const interrupted = request.dryRun
      ? 'the dry run was interrupted'
      : 'the run was interrupted; the next one continues';
    const problem = signal.aborted ? interrupted : planned.problem;
    const reached = { settings: JSON.stringify(content.config), position: content.position };
    if (!request.dryRun) {
      this.#reached = problem === null ? reached : null;
      const skipped = planned.items.filter(({ step }) => step === 'skipped');
      const refused = skipped.map(({ userName, detail }) => ({ userName, field: null, reason: detail ?? 'skipped' }));
      await this.parts.refused.add(domain.SOURCE, [...refused, ...content.left].slice(0, refusedBounds.kept));
    }
    return { isAll: content.isAll, unended: planned.unended, ...reportOf(planned.items, problem, content, request) };
  }

  /** Reads all entries before anything is compared: an incomplete response must not be used. */
  async #content(
    reader: DirectoryReader,
    config: domain.DirectoryConfig,
    isAllWanted: boolean,
  ): Promise<DirectoryContent> {
    const reached = this.#reached?.settings === JSON.stringify(config) ? this.#reached.position : null;
    const after = !isAllWanted && reader.canContinue(reached) ? reached : null;
    const entries = new Map<string, domain.DirectoryEntry>();
    const skipped: SkippedEntry[] = [];
    const left: LeftOutValue[] = [];
    const shared = new Set<string>();
    let latest = after?.kind === 'time' ? after.value : null;
    for await (const page of reader.read(after)) {
      for (const entry of page.entries) {
        const { userName = entry.userName } = entries.get(entry.id) ?? {};
        if (personKey(userName) !== personKey(entry.userName)) shared.add(entry.id);
        entries.set(entry.id, entry);
      }
      skipped.push(...page.skipped);
      left.push(...page.left.slice(0, refusedBounds.kept - left.length));
      if (page.changedAt !== null && (latest === null || page.changedAt > latest)) latest = page.changedAt;
    }
    // Which of them is the person is not known: neither is renamed to the other, and no one leaves.
    for (const id of shared) {
      skipped.push({ id, userName: entries.get(id)!.userName, why: `another entry has the id ${id} too` });
      entries.delete(id);
    }
    const time = latest === null ? null : ({ kind: 'time', value: latest } as const);
    return { config, isAll: after === null, entries, skipped, left, position: reader.server.position ?? time };
  }

  /** Adds the groups that the registry does not have yet; in a dry run they get numbers that no group has. See `GroupNumbers`. */
  async #groupNumbers(config: domain.DirectoryConfig, request: RunRequest): Promise<GroupNumbers> {
    const numbers = new Map<string, number>();
    const present = await readGroups(this.store);
    for (const name of (await this.parts.settings.lastRun())?.groups ?? []) {
      const group = groupNamed(present, name);
      if (group) numbers.set(name, group.number);
    }
    for (const [i, { name }] of config.groups.entries())
      await retrying(async () => {
        const groups = await readGroups(this.store);
        const existing = groupNamed(groups, name);
        if (existing || request.dryRun) return numbers.set(name, existing?.number ?? -1 - i);
        const added = addGroup(groups, name, null, this.now());
        if (added instanceof Refusal) throw refused(added);
        await this.#committing(config, request)([added.change]);
        return numbers.set(name, added.record.number);
      });
    return numbers;
  }

  /** Changes are those of the directory, also if someone asks for them. */
  #committing({ url }: Pick<domain.DirectoryConfig, 'url'>, { context }: RunRequest) {
    const actor = `directory:${new URL(url).hostname}`;
    const requestId = context?.requestId ?? null;
    return (changes: Parameters<Store['commit']>[0]['changes']) =>
      this.store.commit({ at: this.now(), actor, requestId, changes });
  }

  async #record(
    request: RunRequest,
    {
      isAll,
      problem,
      counts,
      unended: found,
    }: DirectoryReport & { readonly isAll: boolean; readonly unended: number | null },
  ) {
    const { settings } = this.parts;
    await retrying(async () => {
      const { version, config } = await settings.read();
      const before = await this.store.document(domain.DIRECTORY_RUN);
      const last = domain.runIn(before);
      const named = config?.groups.map(({ name }) => name) ?? [];
      // A full run has already removed the members of all other groups.
      const groups = isAll && problem === null ? named : [...new Set([...(last?.groups ?? []), ...named])];
      const kind = isAll ? 'ALL' : 'CHANGES';
      // A run that has not read all entries knows nothing of absent persons.
      const unended = isAll && found !== null ? found : (last?.unended ?? 0);
      const run = { at: this.now(), kind, settings: version, problem, counts, groups, unended } as const;
      if (!config || !domain.isWorthRecording(last, run)) return;
      const by = request.context ? nameOf(request.context.caller) : null;
      await this.#committing(config, request)([domain.recordRun(before, run, by)]);
    });
  }
}

const failed = ({ isAll, dryRun = false }: RunRequest, problem: string) => ({
  isAll,
  unended: null,
  dryRun,
  problem,
  counts: noCounts,
  list: [],
});

function reportOf(
  items: readonly PlannedStep[],
  problem: string | null,
  { entries, skipped }: DirectoryContent,
  { dryRun = false }: RunRequest,
): DirectoryReport {
  const counts = { ...noCounts, read: entries.size + skipped.length };
  for (const { step } of items) counts[step]++;
  const list = items.slice(0, directoryBounds.shown).map(({ step, number, userName, detail }) => ({
    step,
    personId: number ? personIds.format(number) : null,
    userName,
    detail,
  }));
  return { dryRun, problem, counts, list };
}
