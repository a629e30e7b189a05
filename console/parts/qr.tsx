/** A QR code. Loaded when one is shown. */
import { encode } from 'uqr';

/** A text as a QR code, dark on light in both color schemes: readers need that. */
export function QrCode({ value, label }: { readonly value: string; readonly label: string }) {
  const { size, data } = encode(value, { border: 4 });
  const path = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')));
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={path.join('')} fill="#000" />
    </svg>
  );
}
