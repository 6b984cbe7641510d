/** One accent, two schemes; every colour of text stands at 4.5 to 1 or more on its ground. */
export const style = `
:root{color-scheme:light dark;--page:#f6f7f8;--card:#fff;--line:#dfe3e6;--text:#16202a;--dim:#55616c;--accent:#0b6570;--on-accent:#fff;--soft:#e7f1f2;--good:#17693a;--mixed:#8a5300;--bad:#a9222b;--wash-good:#e6f4ea;--wash-mixed:#fdf1dc;--wash-bad:#fbe9ea;--code:#f0f2f4;--edge:rgb(22 32 42/.25)}
@media(prefers-color-scheme:dark){:root{--page:#0e1316;--card:#151b1f;--line:#2a3339;--text:#e5eaed;--dim:#9ba8b1;--accent:#63c5cf;--on-accent:#07191c;--soft:#17292d;--good:#78d297;--mixed:#e8b35f;--bad:#ff9aa0;--wash-good:#14291c;--wash-mixed:#2c2413;--wash-bad:#331a1d;--code:#1c2429;--edge:rgb(0 0 0/.7)}}
*{box-sizing:border-box}
body{margin:0;font:14px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif;color:var(--text);background:var(--page);font-variant-numeric:tabular-nums;display:grid;grid-template-columns:13.5rem minmax(0,1fr);min-height:100vh}
h1,h2,p,dl,dd,ul,ol,figure,fieldset{margin:0;padding:0}
h1{font-size:1.5rem;font-weight:640;letter-spacing:-.015em;line-height:1.25;overflow-wrap:anywhere}
h1:focus,main:focus{outline:none}
h2{font-size:.95rem;font-weight:620}
a{color:var(--accent);text-underline-offset:.18em}
.id,code,pre{font:12.5px/1.55 ui-monospace,'SF Mono',Menlo,Consolas,monospace;overflow-wrap:anywhere}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:4px}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.skip{position:absolute;left:.75rem;top:-4rem;z-index:3}
.skip:focus{top:.75rem}
.side{position:sticky;top:0;height:100vh;padding:1.35rem 1rem;border-right:1px solid var(--line);display:flex;flex-direction:column;gap:1.5rem;background:var(--card);overflow-y:auto}
.brand{font-weight:680;letter-spacing:-.01em;font-size:1.05rem;padding:0 .65rem}
.brand::before{content:'';display:inline-block;width:.62em;height:.62em;margin-right:.55em;border:.17em solid var(--accent);border-radius:50%}
nav{display:flex;flex-direction:column;gap:.15rem}
nav a{color:var(--dim);text-decoration:none;padding:.42rem .65rem;border-radius:6px}
nav a:hover{color:var(--text);background:var(--page)}
nav a[aria-current]{color:var(--accent);background:var(--soft);font-weight:600}
.who{margin-top:auto;display:flex;align-items:center;justify-content:space-between;gap:.5rem;padding:0 .1rem 0 .65rem;color:var(--dim);font-size:.85rem}
main{padding:1.6rem clamp(1rem,2.5vw,2.75rem) 3rem;display:flex;flex-direction:column;gap:1.1rem;max-width:104rem;width:100%;min-width:0}
main[aria-busy]{opacity:.6}
.stack{display:flex;flex-direction:column;gap:1.1rem;min-width:0}
.stack:empty{display:none}
.title,.bar{display:flex;align-items:center;justify-content:space-between;gap:.6rem 1rem;flex-wrap:wrap}
.actions{display:flex;align-items:center;gap:.5rem;flex-wrap:wrap}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:1rem 1.15rem;display:flex;flex-direction:column;gap:.8rem;min-width:0;position:relative}
.fresh{border-color:var(--accent)}
.note,small,.told{color:var(--dim);font-size:.86rem}
small{display:block}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:1px;background:var(--card);border:1px solid var(--line);border-radius:10px;overflow:hidden}
.tile{box-shadow:0 0 0 1px var(--line);padding:.85rem 1.15rem}
.tile dt{color:var(--dim);font-size:.86rem}
.tile b{display:block;font-size:1.55rem;font-weight:620;letter-spacing:-.02em;line-height:1.4}
.tile dd>span{color:var(--dim);font-size:.82rem}
.tile b .unpriced{font-size:1.1rem;letter-spacing:0}
button,.button{font:inherit;font-weight:550;color:var(--text);background:var(--card);border:1px solid var(--line);border-radius:7px;padding:.36rem .8rem;min-height:2.15rem;cursor:pointer;text-decoration:none;display:inline-flex;align-items:center}
button:hover,.button:hover{border-color:var(--dim)}
button:disabled,[aria-disabled=true]{opacity:.55;cursor:default}
.main.main{background:var(--accent);border-color:var(--accent);color:var(--on-accent)}
.danger{color:var(--bad)}
.quiet,summary{font-size:.86rem}
.quiet{padding:.2rem .6rem;min-height:1.85rem;color:var(--dim)}
summary{cursor:pointer}
.curl{position:relative}
.curl summary{list-style:none;border:1px solid var(--line);border-radius:7px;padding:.2rem .6rem;min-height:1.85rem;color:var(--dim);font-weight:550;display:flex;align-items:center}
.curl summary::-webkit-details-marker{display:none}
.float{position:absolute;right:0;top:calc(100% + .4rem);z-index:2;width:min(34rem,calc(100vw - 3.5rem));padding:.8rem;background:var(--card);border:1px solid var(--line);border-radius:10px;box-shadow:0 8px 28px rgb(0 0 0/.16)}
.copied{display:flex;flex-direction:column;gap:.5rem}
.copied>div{display:flex;align-items:center;gap:.6rem}
pre{margin:0;padding:.7rem .85rem;background:var(--code);border-radius:7px;overflow-x:auto;white-space:pre}
.secret pre{font-size:14px;white-space:pre-wrap;border:1px dashed var(--accent)}
.scroll{overflow-x:auto;margin:0 -1.15rem -1rem;border-top:1px solid var(--line);border-radius:0 0 9px 9px;background:linear-gradient(90deg,var(--card) 40%,transparent) left/2.5rem 100% no-repeat local,linear-gradient(270deg,var(--card) 40%,transparent) right/2.5rem 100% no-repeat local,linear-gradient(90deg,var(--edge),transparent) left/.9rem 100% no-repeat scroll,linear-gradient(270deg,var(--edge),transparent) right/.9rem 100% no-repeat scroll}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.46rem .7rem;border-bottom:1px solid var(--line);vertical-align:baseline;font-weight:400}
th:first-child,td:first-child{padding-left:1.15rem}
th:last-child,td:last-child{padding-right:1.15rem}
tbody tr:last-child>*{border-bottom:0}
tbody tr:hover{background:var(--page)}
thead th{color:var(--dim);font-size:.82rem;white-space:nowrap;font-weight:550}
tbody th{font-weight:550;min-width:8.5rem;max-width:28rem;overflow-wrap:anywhere}
td{white-space:nowrap}
.number{text-align:right}
.order{border:0;background:none;padding:0;min-height:1.5rem;font:inherit;color:inherit;border-radius:3px}
.order:hover{color:var(--text)}
[aria-sort=ascending] .order::after{content:' ↑'}
[aria-sort=descending] .order::after{content:' ↓'}
details>.field,details>.pair,details>details{margin-top:.8rem}
.empty{color:var(--dim);padding:1.4rem 1.15rem}
.badge{display:inline-flex;align-items:center;gap:.42em;white-space:nowrap}
.badge.plain,.badge.accent{border:1px solid var(--line);border-radius:99px;padding:0 .55em;font-size:.82rem;color:var(--dim)}
.badge.accent{color:var(--accent);border-color:var(--accent)}
.plain .lamp,.accent .lamp{display:none}
.lamp{width:.58em;height:.58em;border-radius:50%;background:var(--dim)}
.good .lamp{background:var(--good)}
.mixed .lamp{background:var(--mixed)}
.bad .lamp{background:var(--bad);border-radius:1px}
.idle .lamp{background:none;border:1.5px solid var(--dim)}
.fine{color:var(--good)}
.troubles{list-style:none;display:flex;flex-direction:column;gap:.4rem}
.troubles li{padding:.5rem .75rem;border-radius:7px;border-left:3px solid;overflow-wrap:anywhere}
.troubles .grave{background:var(--wash-bad);border-color:var(--bad)}
.troubles .mild{background:var(--wash-mixed);border-color:var(--mixed)}
.refusal{background:var(--wash-bad);border-left:3px solid var(--bad);border-radius:7px;padding:.55rem .8rem}
.refusal ul{padding-left:1.2rem}
.countdown{background:var(--wash-mixed);border-radius:7px;padding:.55rem .8rem}
.countdown[data-left]::after{content:attr(data-left);margin-left:.6rem;font-weight:650}
.countdown:not([data-left]){background:var(--wash-good)}
.unpriced,i.hatched{background:repeating-linear-gradient(135deg,transparent 0 4px,var(--line) 4px 6px);border-radius:4px;padding:0 .35em}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,25rem),1fr));gap:0 2.5rem}
.facts>div{display:grid;grid-template-columns:8.5rem minmax(0,1fr);gap:.75rem;padding:.42rem 0;border-bottom:1px solid var(--line)}
.facts .wide{grid-column:1/-1}
.facts dt{color:var(--dim)}
.facts dd{overflow-wrap:anywhere}
.steps{padding-left:1.3rem;display:flex;flex-direction:column;gap:.35rem}
.steps .done{color:var(--dim);text-decoration:line-through}
.choices{display:flex;justify-content:space-between;gap:.7rem 1.5rem;flex-wrap:wrap}
.tabs{display:inline-flex;flex-direction:row;flex-wrap:wrap;border:1px solid var(--line);border-radius:8px;background:var(--card);padding:2px}
.tabs a{padding:.28rem .85rem;border-radius:6px;text-decoration:none;color:var(--dim)}
.tabs a[aria-current]{background:var(--soft);color:var(--accent);font-weight:600}
.span{display:flex;align-items:center;gap:.5rem;flex-wrap:wrap}
.span input:not([type=radio],[type=checkbox]){padding:.3rem .4rem;width:8.5rem}
.chip{align-self:flex-start;background:var(--soft);border-radius:99px;padding:.2rem .9rem;overflow-wrap:anywhere}
.plot{display:grid;grid-template-columns:auto minmax(0,1fr);gap:.35rem .7rem}
.plot figcaption{grid-column:1/-1;color:var(--dim);font-size:.86rem;display:flex;gap:1rem;flex-wrap:wrap}
.plot .key{display:inline-flex;align-items:center;gap:.4rem}
i.hatched{width:1.6rem;height:.8rem;border:1px solid var(--dim)}
.axis,.ends{display:flex;justify-content:space-between;color:var(--dim);font-size:.8rem}
.axis{flex-direction:column;text-align:right}
.ends{grid-column:2}
.plot svg{display:block;border-bottom:1px solid var(--line)}
.plot .ground{fill:transparent}
.plot g:hover .ground{fill:var(--page)}
.plot .solid{fill:var(--accent)}
.plot .hatched[height='0']{display:none}
.plot rect.hatched{stroke:var(--accent);stroke-width:1}
.places{list-style:none;display:flex;flex-direction:column}
.places a{display:block;padding:.4rem .6rem;border-radius:6px;text-decoration:none;overflow-wrap:anywhere}
.places a:hover,.places a:focus{background:var(--soft)}
.time-plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));gap:1rem 1.6rem}
.time-plot svg{display:block;border-bottom:1px solid var(--line);touch-action:pan-y}
.time-plot figcaption{display:flex;justify-content:space-between;gap:.2rem 1rem;flex-wrap:wrap;font-size:.86rem;margin-bottom:.3rem}
.time-plot b{font-weight:570}
.line{fill:none;stroke-width:1.8;stroke-linecap:round;stroke-linejoin:round;stroke:var(--accent)}
.line.pale{stroke:var(--dim);stroke-dasharray:5 3}
.bar-solid{fill:var(--accent)}
.bar-bad{fill:var(--bad)}
.cross{stroke:var(--dim);visibility:hidden}
.cross.shown{visibility:visible}
.mark{stroke:var(--mixed);stroke-width:2;stroke-dasharray:2 2}
.halves{display:grid;gap:1.1rem;align-items:start}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,11rem),1fr));gap:.7rem}
.pair>:only-child{max-width:26rem}
.question{border:1px solid var(--line);border-radius:8px;padding:.7rem .85rem .85rem;display:flex;flex-direction:column;gap:.7rem}
.question legend{padding:0 .4rem;margin:0}
.options{display:flex;flex-direction:column;gap:.5rem}
.option{display:grid;gap:.4rem;align-items:center;grid-template-columns:minmax(0,1fr) auto}
.option.choice-row{grid-template-columns:minmax(0,1fr) minmax(0,2fr) auto}
.bars{display:grid;grid-template-columns:minmax(3rem,auto) minmax(4rem,1fr) auto;gap:.3rem .7rem;align-items:center;align-content:start}
.bars figcaption{grid-column:1/-1;display:flex;gap:.2rem .8rem;flex-wrap:wrap;align-items:baseline}
.bars svg{display:block}
.bars .rail{fill:var(--code)}
.bars .solid{fill:var(--accent)}
.label{max-width:16rem;overflow-wrap:anywhere}
.square{max-width:30rem}
.square svg[role=img]{border:0}
.square .ends{padding-bottom:.2rem}
.frame{fill:none;stroke:var(--line)}
.even{stroke:var(--dim);stroke-dasharray:2 3}
.curve{fill:none;stroke-width:2;stroke:var(--accent)}
.dot{fill:var(--accent)}
.curve.curve-1{stroke:var(--bad);stroke-dasharray:6 3}
.dot.curve-1{fill:var(--bad)}
.curve.curve-2{stroke:var(--good);stroke-dasharray:2 3}
.dot.curve-2{fill:var(--good)}
.curve.curve-3{stroke:var(--mixed);stroke-dasharray:9 3 2 3}
.dot.curve-3{fill:var(--mixed)}
.dot.curve-4{fill:var(--dim)}
.plot .key svg{border:0}
.list{padding-left:1.1rem;overflow-wrap:anywhere}
progress{accent-color:var(--accent);width:10rem;max-width:100%;flex:1 1 8rem;min-width:6rem}
hr{border:0;border-top:1px solid var(--line);margin:0;width:100%}
.waterfall{display:grid;grid-template-columns:minmax(4rem,auto) minmax(0,1fr);gap:.25rem .9rem;align-items:center}
.waterfall figcaption{grid-column:1/-1;color:var(--dim);font-size:.86rem;margin-bottom:.3rem}
.waterfall>span{max-width:14rem;overflow-wrap:anywhere}
.waterfall svg{display:block}
.waterfall .rail{fill:var(--line)}
.waterfall .good{fill:var(--good)}
.waterfall .mixed{fill:var(--mixed)}
.waterfall .bad{fill:var(--bad)}
.waterfall .idle{fill:var(--dim)}
.waterfall .stream{opacity:.35}
.weights{display:grid;grid-template-columns:repeat(auto-fill,minmax(12rem,1fr));gap:1rem}
.scene{font-weight:400}
.name{display:inline-block;min-width:8.5rem;max-width:16rem;white-space:normal;overflow-wrap:anywhere}
.name.wide{display:block;min-width:15rem;max-width:26rem}
.span input.search{width:15rem}
.short{white-space:nowrap;font:400 12px/1.4 ui-monospace,'SF Mono',Menlo,Consolas,monospace}
.hatch-ground{fill:var(--card)}
.hatch-line{stroke:var(--accent);stroke-width:3}
form{display:flex;flex-direction:column;gap:1rem;max-width:44rem}
fieldset{border:0;min-width:0}
legend,label{font-weight:550}
legend{padding:0;margin-bottom:.4rem}
form>fieldset+fieldset{border-top:1px solid var(--line);padding-top:.9rem}
form>fieldset>legend{float:left;width:100%;font-size:1.05rem;font-weight:650}
form>fieldset>legend+*{clear:both}
.choices select{max-width:15rem}
.choose{display:grid;gap:.5rem}
.choice{display:grid;grid-template-columns:auto 1fr;gap:.65rem;align-items:baseline;border:1px solid var(--line);border-radius:8px;padding:.6rem .8rem;cursor:pointer;font-weight:400}
.choice span>*{display:block}
.choice small{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:11.5px;overflow-wrap:anywhere}
.choice:has(:checked){border-color:var(--accent);background:var(--soft)}
.field{display:flex;flex-direction:column;gap:.25rem}
input:not([type=radio],[type=checkbox]),select,textarea{font:inherit;color:var(--text);background:var(--card);border:1px solid #83909a;border-radius:7px;padding:.4rem .6rem;min-height:2.25rem;max-width:100%}
.option input{width:100%}
.pair>*{min-width:0}
summary+.pair{margin-top:.6rem}
textarea{width:100%;resize:vertical}
::placeholder{color:var(--dim);opacity:1}
input[type=radio],input[type=checkbox]{accent-color:var(--accent);width:1.05rem;height:1.05rem;margin:0}
.check{display:flex;align-items:center;gap:.55rem;font-weight:400}
dialog{color:var(--text);background:var(--card);border:1px solid var(--line);border-radius:12px;padding:1.3rem 1.4rem;width:min(30rem,calc(100vw - 2rem));box-shadow:0 16px 60px rgb(0 0 0/.3)}
dialog[open]{display:flex;flex-direction:column;gap:.9rem}
dialog h2{font-size:1.1rem}
dialog .actions{justify-content:flex-end}
dialog .danger{background:var(--bad);border-color:var(--bad);color:var(--card)}
dialog::backdrop{background:rgb(5 12 16/.5)}
.sign-in{grid-column:1/-1;max-width:27rem;margin:min(16vh,9rem) auto 0;gap:1.2rem}
.sign-in .brand{padding:0}
.sign-in .main{justify-content:center}
.sign-in form{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:1.3rem;gap:.75rem}
.sides{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:1.1rem;align-items:start}
.beside{display:grid;grid-template-columns:minmax(0,2fr) minmax(0,3fr);gap:1.1rem}
h3{margin:0;font-size:.86rem;font-weight:600;color:var(--dim)}
input[type=file]{width:100%}
.card>form{max-width:none}
.card>div:empty{display:none}
.verdict{border-radius:7px;padding:.55rem .8rem;font-weight:600}
.verdict.proved{background:var(--wash-good);color:var(--good)}
.verdict.unproved{background:var(--wash-bad);color:var(--bad)}
.warned{background:var(--wash-mixed);border-left:3px solid var(--mixed);border-radius:7px;padding:.55rem .8rem}
.lines,.checks,.outcomes,.said{list-style:none;display:flex;flex-direction:column;gap:.35rem}
.said:empty,.outcomes:empty{display:none}
.lines li{overflow-wrap:anywhere}
.checks li{display:grid;grid-template-columns:9rem minmax(0,1fr);gap:.75rem}
.checks .held b{color:var(--good);font-weight:550}
.checks .failed b{color:var(--bad)}
.said li{padding:.5rem .75rem;border-radius:7px;background:var(--page)}
.said .assistant{background:var(--soft)}
.said b{font-size:.82rem;color:var(--dim);font-weight:550}
.said p{white-space:pre-wrap;overflow-wrap:anywhere}
.outcomes li{display:flex;flex-wrap:wrap;gap:.1rem 1rem;justify-content:space-between;padding:.5rem .75rem;border-radius:7px;background:var(--page)}
.outcomes b{font-weight:550}
.outcomes small{flex-basis:100%}
.outcomes [data-end=taken]{background:var(--wash-bad)}
.side-by-side{display:flex;flex-direction:column;gap:.5rem;min-width:0}
.side-by-side pre,.card>pre{white-space:pre-wrap;overflow-wrap:anywhere;max-height:16rem;overflow-y:auto}
.side-by-side pre:empty,.card>pre:empty{display:none}
.exchanges{display:flex;flex-direction:column;gap:.8rem;max-height:34rem;overflow-y:auto}
.exchange{display:flex;flex-direction:column;gap:.35rem;border-left:2px solid var(--line);padding-left:.7rem}
.seen dl{font-size:.86rem}
.seen dl>div{display:grid;grid-template-columns:minmax(0,8rem) minmax(0,1fr);gap:.5rem}
.seen dt{color:var(--dim);font-size:.8rem;overflow-wrap:anywhere}
.picture{max-width:100%;height:auto}
@media(max-width:75rem){.sides{grid-template-columns:minmax(0,1fr)}}
@media(max-width:34rem){.beside,.checks li{grid-template-columns:minmax(0,1fr)}}
main>button{align-self:flex-start}
@media(min-width:84rem){.halves{grid-template:auto 1fr/minmax(0,1fr) minmax(0,1fr)}.halves>:nth-child(2){grid-area:1/2/span 2}}
@media(max-width:56rem){body{display:block}.side{position:static;height:auto;overflow:visible;border-right:0;border-bottom:1px solid var(--line);padding:.8rem 1rem .5rem;gap:.6rem;display:grid;grid-template-columns:1fr auto;align-items:center}.side nav{grid-column:1/-1;grid-row:2;flex-direction:row;overflow-x:auto;margin:0 -1rem;padding:2px 1rem .3rem}.side nav a{white-space:nowrap}.side nav{mask-image:linear-gradient(to right,#000 calc(100% - 2.2rem),transparent)}.side .brand{padding:0}.who{margin:0;padding:0}.float{right:auto;left:0}.title .actions{width:100%}}
@media(max-width:30rem){.option.choice-row{grid-template-columns:minmax(0,1fr) auto}.choice-row input+input{grid-row:2;grid-column:1/-1}.tiles{grid-template-columns:1fr 1fr}.tiles>:last-child:nth-child(odd){grid-column:1/-1}.float{position:fixed;left:1rem;right:1rem;top:auto;bottom:1rem;width:auto}}
@media(min-width:160rem){body{font-size:18px;grid-template-columns:15rem minmax(0,1fr)}code,pre{font-size:16px}main{max-width:none}}
@media print{body{display:block}.side,.actions,.choices,.skip,form{display:none}}
@media(prefers-reduced-motion:no-preference){main{transition:opacity .12s}}
`
  .trim()
  .replaceAll('\n', '')
