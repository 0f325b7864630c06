// nodejs/node#61967: Buffer.allocUnsafe of 10 to 200 KiB, without any write to the buffers.
// node reproducer.js [chunk KiB] [count]; prints time, page faults and the largest resident memory.
/* eslint-env node */
'use strict';
const chunk = Number(process.argv[2] || 200) * 1024;
const count = Number(process.argv[3] || 100000);
const before = process.resourceUsage();
const from = process.hrtime.bigint();
for (let i = 0; i < count; i++) Buffer.allocUnsafe(chunk);
const ms = Number(process.hrtime.bigint() - from) / 1e6;
const after = process.resourceUsage();
const faults = after.minorPageFault - before.minorPageFault;
console.log(`${process.version}: ${count} buffers of ${chunk >> 10} KiB: ${Math.round(ms)} ms, ${faults} page faults, ` +
            `${Math.round(after.maxRSS / 1024)} MiB resident at most`);
