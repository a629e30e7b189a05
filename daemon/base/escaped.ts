/** Control characters except line breaks, and characters that reorder text or are invisible; joiners are safe. */
const UNSAFE = /[^\P{Cc}\n]|[\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu;

/**
 * Text from a device, a library, a client or a database must not control the terminal that shows it. The escapes are those of
 * JSON, so that JSON parses to the original text. Line breaks stay.
 */
export const escaped = (text: string): string =>
  text.replace(UNSAFE, symbol =>
    Array.from({ length: symbol.length }, (_, i) => `\\u${symbol.charCodeAt(i).toString(16).padStart(4, '0')}`).join(
      '',
    ),
  );

/** Escapes a text that must not look like several lines. */
export const escapedLine = (text: string): string => escaped(text).replaceAll('\n', '\\n');
