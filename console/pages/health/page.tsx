/** Whether each part of the registry works, and what to do if it does not. */
import { useEffect } from 'preact/hooks';
import { Problem } from '../../api/problem.ts';
import { call, type Data, open } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { linkTo } from '../../router.ts';
import { text, health as words } from '../../text/words.ts';

type Health = Data<'getHealth'>;
type HealthPart = 'node' | 'daemons' | 'store' | 'forwarding' | 'webhooks' | 'directory' | 'providers' | 'drivers';

interface HealthCheck {
  readonly part: HealthPart;
  readonly state: 'good' | 'warn' | 'bad' | 'off';
  readonly detail: string;
  /** The daemon's own words, in English; absent if `detail` has them. */
  readonly original?: string;
}

/** Where a part is put right. */
const partPages: Partial<Record<HealthPart, 'webhooks' | 'policies' | 'providers'>> = {
  webhooks: 'webhooks',
  directory: 'policies',
  providers: 'providers',
};

const colors = { good: 'good', warn: 'warn', bad: 'bad', off: '' } as const;

/** Milliseconds after which the parts are looked at again. */
const AGAIN_MS = 10_000;

/** A daemon that is not ready refuses with the same data. */
const healthOf = (signal: AbortSignal): Promise<Health> =>
  call('getHealth', {}, { signal }).catch((error: unknown) => {
    if (error instanceof Problem && error.data) return error.data as Health;
    throw error;
  });

/** Words of the language, with the text of the daemon if that is another one. */
const inWords = (detail: string, original: string) => ({ detail, ...(!detail.includes(original) && { original }) });

/** A figure of the metrics; undefined if the daemon has none. */
function figureIn(metrics: string, name: string): number | undefined {
  const line = metrics.split('\n').find(each => each.startsWith(`${name}{`));
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
}

function checksOf(health: Health, metrics: string): HealthCheck[] {
  const { node, version, uptimeSeconds, ready, reason, store, drivers } = health;
  const isStored = store.state === 'ready';
  const why = reason === null ? { detail: '' } : inWords(words.notReady(reason), reason);
  const daemons = figureIn(metrics, 'devmgr_daemons');
  /** A part that is not set up has no figure; one above 0 needs somebody. */
  const counted = (part: HealthPart, name: string, state: 'warn' | 'bad', detailOf: (figure: number) => string) => {
    const figure = figureIn(metrics, name);
    if (figure === undefined) return { part, state: 'off', detail: '' } as const;
    return { part, state: figure > 0 ? state : 'good', detail: detailOf(figure) } as const;
  };
  return [
    {
      part: 'node',
      state: ready ? 'good' : 'bad',
      ...why,
      detail: `${words.node(node, version, uptimeSeconds)} ${why.detail}`,
    },
    ...(daemons === undefined ? [] : [{ part: 'daemons', state: 'good', detail: words.daemons(daemons) } as const]),
    {
      part: 'store',
      state: isStored ? 'good' : 'bad',
      // The name of the database.
      ...(isStored ? { detail: store.detail } : inWords(words.noStore(store.detail), store.detail)),
    },
    counted('forwarding', 'devmgr_audit_forward_lag_entries', 'warn', words.waiting),
    counted('webhooks', 'devmgr_webhooks_failing', 'bad', words.failing),
    counted('directory', 'devmgr_directory_failing', 'bad', failing => words.directory(failing > 0)),
    counted('providers', 'devmgr_idp_pending', 'warn', words.providers),
    ...drivers.map(({ name, state, detail }) => ({
      part: 'drivers' as const,
      state: state === 'ready' ? ('good' as const) : ('warn' as const),
      ...inWords(words.driver(name, state, detail), detail),
    })),
  ];
}

function NextStep({ part }: Pick<HealthCheck, 'part'>) {
  const page = partPages[part];
  return (
    <p class="hint">
      {words.todo[part]} {page && <a href={linkTo(page)}>{text.nav[page]}</a>}
    </p>
  );
}

/** The parts, looked at every ten seconds. */
export function HealthPage() {
  const resource = useResource(async signal => {
    const [health, metrics] = await Promise.all([
      healthOf(signal),
      // A body that is not read keeps its connection.
      open('getMetrics', {}, { signal }).then(answer => answer.text()),
    ]);
    return checksOf(health, metrics);
  });
  useEffect(() => {
    const timer = setInterval(resource.reload, AGAIN_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <>
      <h1>{text.nav.health}</h1>
      <Loaded from={resource}>
        {checks => (
          <>
            <p role="status">
              {words.summary(checks.filter(({ state }) => state === 'warn' || state === 'bad').length)}
            </p>
            <ul class="events checks">
              {checks.map(({ part, state, detail, original }) => (
                <li key={`${part} ${detail}`}>
                  <strong>{words.part[part]}</strong>
                  <span class={`badge ${colors[state]}`}>{words.state[state]}</span>
                  <div>
                    {detail}
                    {original && (
                      <details>
                        <summary>{text.problem.original}</summary>
                        <span lang="en">{original}</span>
                      </details>
                    )}
                    {(state === 'warn' || state === 'bad') && <NextStep part={part} />}
                  </div>
                </li>
              ))}
            </ul>
          </>
        )}
      </Loaded>
    </>
  );
}
