/** Whether each part of the registry works, and what to do if it does not. */
import { useEffect } from 'preact/hooks';
import { Problem } from '../../api/problem.ts';
import { call, type Data, open } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { text, health as words } from '../../text/words.ts';

type DaemonHealth = Data<'getHealth'>;
type HealthPart = 'node' | 'daemons' | 'store' | 'forwarding' | 'webhooks' | 'directory' | 'providers' | 'drivers';

interface HealthCheck {
  readonly part: HealthPart;
  readonly state: 'good' | 'warn' | 'bad' | 'off';
  /** In words; of the daemon, if they are its own. */
  readonly detail: string;
}

const colors = { good: 'good', warn: 'warn', bad: 'bad', off: '' } as const;

/** Milliseconds after which the parts are looked at again. */
const AGAIN_MS = 10_000;

/** A daemon that is not ready refuses with the same data. */
const healthOf = (signal: AbortSignal): Promise<DaemonHealth> =>
  call('getHealth', {}, { signal }).catch((error: unknown) => {
    if (error instanceof Problem && error.data) return error.data as DaemonHealth;
    throw error;
  });

/** A figure of the metrics; undefined if the daemon has none. */
function figureIn(metrics: string, name: string): number | undefined {
  const line = metrics.split('\n').find(each => each.startsWith(`${name}{`));
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
}

function checksOf(health: DaemonHealth, metrics: string): HealthCheck[] {
  const { node, version, uptimeSeconds, ready, reason, store, drivers } = health;
  const daemons = figureIn(metrics, 'devmgr_daemons');
  const lag = figureIn(metrics, 'devmgr_audit_forward_lag_entries');
  const failing = figureIn(metrics, 'devmgr_webhooks_failing');
  const directory = figureIn(metrics, 'devmgr_directory_failing');
  const pending = figureIn(metrics, 'devmgr_idp_pending');
  return [
    {
      part: 'node',
      state: ready ? 'good' : 'bad',
      detail: `${words.node(node, version, uptimeSeconds)} ${reason ?? ''}`,
    },
    ...(daemons === undefined ? [] : [{ part: 'daemons', state: 'good', detail: words.daemons(daemons) } as const]),
    { part: 'store', state: store.state === 'ready' ? 'good' : 'bad', detail: store.detail },
    {
      part: 'forwarding',
      state: lag === undefined ? 'off' : lag > 0 ? 'warn' : 'good',
      detail: lag === undefined ? words.off : words.waiting(lag),
    },
    {
      part: 'webhooks',
      state: failing === undefined ? 'off' : failing > 0 ? 'bad' : 'good',
      detail: failing === undefined ? words.off : words.failing(failing),
    },
    {
      part: 'directory',
      state: directory === undefined ? 'off' : directory > 0 ? 'bad' : 'good',
      detail: directory === undefined ? words.off : words.directory(directory > 0),
    },
    {
      part: 'providers',
      state: pending === undefined ? 'off' : pending > 0 ? 'warn' : 'good',
      detail: pending === undefined ? words.off : words.providers(pending),
    },
    ...drivers.map(
      ({ name, state, detail }) =>
        ({ part: 'drivers', state: state === 'ready' ? 'good' : 'warn', detail: `${name}: ${detail}` }) as const,
    ),
  ];
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
              {checks.map(({ part, state, detail }) => (
                <li key={`${part} ${detail}`}>
                  <strong>{words.part[part]}</strong>
                  <span class={`badge ${colors[state]}`}>{words.state[state]}</span>
                  <div>
                    {detail}
                    {(state === 'warn' || state === 'bad') && <p class="hint">{words.todo[part]}</p>}
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
