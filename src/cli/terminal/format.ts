/** The forms of a result. `table` is for people; `wide` is the table with all columns, whatever the width of the terminal. */
export const formats = ['table', 'wide', 'json', 'yaml', 'csv', 'ndjson'] as const;
export type Format = (typeof formats)[number];

/** Whether programs read the format as values of JSON. */
export const isStructured = (format: Format): boolean => format === 'json' || format === 'yaml' || format === 'ndjson';
