/** The words of bulk operations in German. */
import { grouped } from '../../../text/numbers.ts';
import type { BulkWords } from './words.en.ts';

const s = (count: number, one: string, many: string) => `${grouped(count)} ${count === 1 ? one : many}`;

/** Every text of bulk operations in German. */
export const de: BulkWords = {
  counting: count => (count ? `Wird gezählt: bisher ${s(count, 'Gerät', 'Geräte')} …` : 'Wird gezählt …'),
  count: 'Geräte',
  what: 'Was geschieht',
  changed: 'wird geändert',
  skipped: 'übersprungen: Der Zustand lässt es nicht zu',
  preview: {
    LOCK: count => `Gesperrt wird: ${s(count, 'Gerät', 'Geräte')}.`,
    UNLOCK: count => `Entsperrt wird: ${s(count, 'Gerät', 'Geräte')}.`,
    GENERATE_CODE: count => `Einen neuen Code erhält: ${s(count, 'Gerät', 'Geräte')}. Frühere Codes werden ungültig.`,
    DEACTIVATE: count => `Stillgelegt wird: ${s(count, 'Gerät', 'Geräte')}.`,
  },
  start: {
    LOCK: count => `${s(count, 'Gerät', 'Geräte')} sperren`,
    UNLOCK: count => `${s(count, 'Gerät', 'Geräte')} entsperren`,
    GENERATE_CODE: count => `${s(count, 'Code', 'Codes')} ersetzen`,
    DEACTIVATE: count => `${s(count, 'Gerät', 'Geräte')} stilllegen`,
  },
  done: {
    LOCK: count => `${s(count, 'Gerät', 'Geräte')} gesperrt.`,
    UNLOCK: count => `${s(count, 'Gerät', 'Geräte')} entsperrt.`,
    GENERATE_CODE: count => `${s(count, 'Code', 'Codes')} ersetzt.`,
    DEACTIVATE: count => `${s(count, 'Gerät', 'Geräte')} stillgelegt.`,
  },
  final: 'Ein stillgelegtes Gerät kann nie wieder benutzt werden.',
  typeCount: count => `Geben Sie die Zahl der Geräte ein: ${count}`,
  progress: (done, total) => `${grouped(done)} von ${s(total, 'Gerät', 'Geräten')}`,
  stop: 'Nach diesem Teil anhalten',
  stopping: 'Wird angehalten …',
  failed: count => `${grouped(count)} fehlgeschlagen.`,
  left: count => `${s(count, 'Gerät', 'Geräte')} nicht bearbeitet.`,
  failedTitle: 'Fehlgeschlagene Geräte',
  why: 'Warum',
  more: count => `${grouped(count)} weitere in der Datei.`,
  download: 'Ergebnisse laden (CSV)',
  code: 'Aktivierungscode',
  codes: 'Neue Codes',
  showCodes: 'Codes anzeigen',
  hideCodes: 'Codes verbergen',
  downloadCodes: 'Codes laden (CSV)',
};
