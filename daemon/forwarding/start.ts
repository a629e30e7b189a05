/** Forwarding of the journal to a log server. */
import type { StartSubject } from '../http/subject.ts';

/** If nothing is forwarded, none of it is loaded. */
export const startForwarding: StartSubject = async ({ settings, log, stack, home, store }) => {
  const target = settings.forward;
  if (!target) return {};
  const { Forwarder } = await import('./forwarder.ts');
  const forwarder = new Forwarder({ store, home, target, log });
  stack.start(forwarder);
  return {
    gauges: async () => ({
      devmgr_audit_forward_lag_entries: { help: 'Journal entries not forwarded yet', value: await forwarder.lag() },
    }),
  };
};
