/** The progress of webhooks that a group of commits reads and replaces. */
import type { Progress, ProgressRecord, WebhookChange } from '../../domain/webhook.ts';
import { Conflict } from '../commit.ts';
import type { Readers } from './readers.ts';

/** The versions of progresses. */
export const progressVersions = 'SELECT number, version FROM webhook_progress WHERE number = ANY($1::int8[])';

/** Null if there is no such endpoint. */
export async function readProgress(readers: Readers, webhook: number): Promise<ProgressRecord | null> {
  const { rows } = await readers.run('SELECT version, progress FROM webhook_progress WHERE number = $1', [webhook]);
  const row = rows[0] as { version: number; progress: string } | undefined;
  return row ? { version: row.version, progress: JSON.parse(row.progress) as Progress } : null;
}

const replace = `INSERT INTO webhook_progress (number, version, progress) SELECT * FROM unnest($1::int8[], $2::int8[], $3::text[])
  ON CONFLICT (number) DO UPDATE SET version = excluded.version, progress = excluded.progress`;
const forget = 'DELETE FROM webhook_progress WHERE number = ANY($1::int8[])';

export class WebhookProgress {
  readonly #versions = new Map<number, number>();
  /** By number; null if it is removed. */
  readonly #changed = new Map<number, string | null>();

  load(rows: readonly { readonly number: number; readonly version: number }[]): void {
    for (const { number, version } of rows) this.#versions.set(number, version);
  }

  /** Throws `Conflict` if the progress has another version than the change expects. */
  check({ webhook, before }: Extract<WebhookChange, { kind: 'webhook.progress' }>): void {
    if ((this.#versions.get(webhook) ?? 0) !== before)
      throw new Conflict(`the progress of webhook ${webhook} has another version now`);
  }

  set({ webhook, before, progress }: Extract<WebhookChange, { kind: 'webhook.progress' }>): void {
    this.#versions.set(webhook, before + 1);
    this.#changed.set(webhook, JSON.stringify(progress));
  }

  forget(webhook: number): void {
    this.#versions.delete(webhook);
    this.#changed.set(webhook, null);
  }

  get isEmpty(): boolean {
    return this.#changed.size === 0;
  }

  /** The statements that write them. */
  *writes(): Generator<readonly [sql: string, values: unknown[]]> {
    const all = [...this.#changed];
    const kept = all.flatMap(([number, progress]) => (progress === null ? [] : [{ number, progress }]));
    const gone = all.filter(([, progress]) => progress === null);
    if (kept.length > 0) {
      const numbers = kept.map(({ number }) => number);
      const versions = numbers.map(number => this.#versions.get(number));
      yield [replace, [numbers, versions, kept.map(({ progress }) => progress)]];
    }
    if (gone.length > 0) yield [forget, [gone.map(([number]) => number)]];
  }
}
