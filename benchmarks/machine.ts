/** The machine of the figures. */
import { cpus, loadavg, release, totalmem } from 'node:os';

/** One line about the machine. */
export function machine(): string {
  const all = cpus();
  return `${all.length} × ${all[0]?.model.trim() ?? 'unknown processor'}, ${Math.round(totalmem() / 1024 ** 3)} GiB, ${process.platform} ${release()}, Node ${process.version}`;
}

/** Other load of the machine in the last minute: processes that wanted a processor. */
export const othersAtWork = (): number => loadavg()[0]!;
