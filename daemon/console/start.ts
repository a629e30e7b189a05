/** The console for browsers. */

import type { StartSubject } from '../http/subject.ts';
import { consoleRoutes } from './routes.ts';

export const startConsole: StartSubject = ({ settings }) => (settings.console ? { routes: consoleRoutes } : {});
