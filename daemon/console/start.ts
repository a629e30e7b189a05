/** The console for browsers. */
import { consoleRoutes } from '../http/routes/console.ts';
import type { StartSubject } from '../http/subject.ts';

export const startConsole: StartSubject = ({ settings }) => (settings.console ? { routes: consoleRoutes } : {});
