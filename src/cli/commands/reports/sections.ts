/** The parts of a report, as every format shows them: what is counted, and the words for it. */
import { count, counted } from '../../count.ts';
import { personWords } from '../../framework/persons.ts';
import { dayAndTime } from '../../terminal/when.ts';
import type { Attempts } from './attempts.ts';
import type { Figures } from './figures.ts';

/** A table of counts. */
export interface Section {
  /** Its name in CSV. */
  readonly id: string;
  readonly title: string;
  /** Kind of a row, as the title of its column. */
  readonly what: string;
  readonly rows: readonly Count[];
  /** Present if the rows follow each other, so that a plot shows more than bars beside the counts. */
  readonly isPlot?: true;
}

interface Count {
  readonly name: string;
  readonly count: number;
  /** The count as keys per hour, if the row is a span of time. */
  readonly perHour?: number;
}

/** Rows of models and of reasons that are shown; the others are one row. */
const mostRows = 20;

/** A row for each person: a user name and the name. */
const personRows = ({ byPerson = [] }: Figures) =>
  byPerson.map(({ userId, name, count }) => ({ name: personWords({ userName: userId, name }), count }));

/** The counts, in the order of the report. A section without rows is left out. */
export function sectionsOf(figures: Figures): readonly Section[] {
  const { registrations, secondsBetween, attempts } = figures;
  const models = figures.byModel.map(({ manufacturer, model, count }) => ({ name: `${manufacturer} ${model}`, count }));
  const sections: readonly Section[] = [
    { id: 'state', title: 'By state', what: 'State', rows: rowsOf(figures.byStatus) },
    { id: 'type', title: 'By type', what: 'Type', rows: rowsOf(figures.byType) },
    {
      id: 'model',
      title: 'By manufacturer and model',
      what: 'Manufacturer and model',
      rows: fewOf(models, figures.otherModels),
    },
    { id: 'proof', title: 'By grade of the proof', what: 'Grade', rows: rowsOf(figures.byProof) },
    {
      id: 'registered',
      title: `Registered per ${span(registrations.binMinutes)}`,
      what: 'From',
      rows: registrations.bins.map(({ start, count, perHour }) => ({
        name: startOf(start, registrations.binMinutes),
        count,
        perHour,
      })),
      isPlot: true,
    },
    {
      id: 'seconds-between',
      title: 'Time between two registrations',
      what: 'Time',
      rows: figures.total < 2 ? [] : secondsBetween.bins.map(bin => ({ name: rangeOf(bin), count: bin.count })),
      isPlot: true,
    },
    {
      id: 'person',
      title: 'By person',
      what: 'Person',
      rows: fewOf(personRows(figures), figures.otherPersons ?? 0, Number.POSITIVE_INFINITY),
    },
    {
      id: 'failure',
      title: 'Failed attempts by reason',
      what: 'Reason',
      rows: fewOf(attempts?.reasons.map(({ reason, count }) => ({ name: reason, count })) ?? [], 0),
    },
  ];
  return sections.filter(({ rows }) => rows.length > 0);
}

/** A single value, with its unit. */
interface Fact {
  /** Its name in CSV. */
  readonly id: string;
  readonly label: string;
  /** For people. */
  readonly words: string;
  /** For programs; null if it is not known. */
  readonly value: string | number | null;
}

/** The values that are not tables, in the order of the report. */
export function factsOf(figures: Figures): readonly Fact[] {
  const { total, registrations, secondsBetween, persons, codes, changes, attempts } = figures;
  const seconds = (value: number) => `${count(value)} s`;
  return [
    fact('devices', 'devices', total),
    fact('first', 'first registered', registrations.first, timeOf),
    fact('last', 'last registered', registrations.last, timeOf),
    fact('per-hour', 'keys per hour', registrations.perHour),
    fact('median', 'time between, median', secondsBetween.median, seconds),
    fact('p95', 'time between, p95', secondsBetween.p95, seconds),
    fact('persons', 'bound persons', persons.count, number => `${persons.isMore ? 'more than ' : ''}${count(number)}`),
    fact('codes-unused', 'codes not used', codes.unused),
    fact('codes-expired', 'of these, expired', codes.expired),
    fact('locked', 'locked since', changes?.locked ?? null),
    fact('unlocked', 'unlocked since', changes?.unlocked ?? null),
    fact('deactivated', 'deactivated since', changes?.deactivated ?? null),
    ...(attempts === null ? [] : attemptFacts(attempts)),
  ];
}

const attemptFacts = ({ attempts, failedAttempts, keys, yield: part }: Attempts): readonly Fact[] => [
  fact('attempts', 'attempts', attempts),
  fact('attempts-failed', 'failed attempts', failedAttempts),
  fact('keys-passed', 'keys passed', keys.passed),
  fact('keys-failed', 'keys failed', keys.failed),
  fact('yield', 'yield', part, percent => `${percent} %`),
];

/** `words`: how a value that is known is written for people; by default as a number. */
const fact = <V extends string | number>(
  id: string,
  label: string,
  value: V | null,
  words: (value: V) => string = value => count(Number(value)),
): Fact => ({ id, label, words: value === null ? '-' : words(value), value });

/** The filters in words: `tag lot:7, status ACTIVE`. */
export function criteriaWords({ criteria }: Figures): string {
  const words = Object.entries(criteria).map(([name, value]) => `${name} ${[value].flat().join(' and ')}`);
  return words.join(', ') || 'all devices';
}

/** `2026-11-22 08:05:00Z`. */
export const timeOf = (iso: string | null): string => (iso === null ? '-' : dayAndTime(iso, true).join(' '));

const rowsOf = (counts: Readonly<Record<string, number>>): readonly Count[] =>
  Object.entries(counts).map(([name, count]) => ({ name, count }));

function fewOf(rows: readonly Count[], more: number, most = mostRows): readonly Count[] {
  const others = rows.slice(most).reduce((sum, row) => sum + row.count, more);
  return [...rows.slice(0, most), ...(others > 0 ? [{ name: 'others', count: others }] : [])];
}

const units = [
  [1_440, 'day'],
  [60, 'hour'],
  [1, 'minute'],
] as const;

function span(minutes: number): string {
  const [size, unit] = units.find(([size]) => minutes % size === 0)!;
  return minutes === size ? unit : counted(minutes / size, unit);
}

/** The start of a bin: its day if bins are days, else also its time. */
function startOf(iso: string, minutes: number): string {
  const [day, time] = dayAndTime(iso, true);
  return minutes % 1_440 === 0 ? day : `${day} ${time.slice(0, 5)}`;
}

function rangeOf({ from, to }: { readonly from: number; readonly to: number | null }): string {
  const unit = from >= 60 ? 60 : 1;
  const word = unit === 60 ? 'min' : 's';
  if (to === null) return `≥ ${from / unit} ${word}`;
  return to / unit < 1 || (from < 60 && to > 60) ? `${from}–${to} s` : `${from / unit}–${to / unit} ${word}`;
}
