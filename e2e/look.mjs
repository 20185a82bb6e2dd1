import { chromium } from "@playwright/test";
const B="http://127.0.0.1:4911", T="tok-tok-tok";
export async function open(size=[1280,720],scheme="light"){ const b=await chromium.launch({executablePath:"/usr/bin/chromium",args:["--no-sandbox","--disable-gpu"]}); const c=await b.newContext({viewport:{width:size[0],height:size[1]},colorScheme:scheme}); const p=await c.newPage(); p.on("pageerror",e=>console.log("PAGEERROR",e.message)); p.on("console",m=>{if(m.type()==="error")console.log("CONSOLE",m.text())}); await p.goto(`${B}/?token=${T}`); return {b,p}; }
export const shot=(p,n)=>p.screenshot({path:`/tmp/hs/shots/${n}.png`});
export {B};
