/** A SIM card as a program of its own, because the reader may be in another network: `card.ts ICCID`, until standard input ends. */
import { plugCard, uicc } from '../support/vcard.ts';

/** Where vsmartcard's virtual reader listens. */
const port = 0x8c7b;

const card = await plugCard(uicc({ iccid: process.argv[2]! }), port);
process.stdout.write('inserted\n');
process.stdin.resume().on('end', () => card.remove());
