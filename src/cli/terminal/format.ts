/** The forms of any result. `table` is for people. */
export const resultFormats = ['table', 'json', 'yaml', 'ndjson'] as const;
/** The forms of a list. `wide` is the table with all columns, whatever the width of the terminal. */
export const listFormats = ['table', 'wide', 'json', 'yaml', 'csv', 'ndjson'] as const;
/** The form of a result; the last two are those of a report. */
export type Format = (typeof listFormats)[number] | 'text' | 'html';

/** Whether programs read the format as values of JSON. */
export const isStructured = (format: Format): boolean => format === 'json' || format === 'yaml' || format === 'ndjson';
