/** How the page of the interface looks beyond what all pages share. */
export const style = `
html{scroll-padding-top:1rem}
.pages main{max-width:52rem;margin:0;padding:0 1rem 4rem;min-width:0}
main header{padding:2rem 0 0}
nav ul{list-style:none;margin:0;padding:0}
nav a,.within a,h3 a{text-decoration:none}
nav a:hover,.within a:hover,h3 a:hover{text-decoration:underline}
nav{padding:1rem 1rem 0}
nav>ul{display:flex;flex-wrap:wrap;gap:.2rem 1rem}
nav>ul ul{display:none}
.within{list-style:none;padding:0;font-size:.875rem}
.within li,nav li{overflow-wrap:anywhere}
.within li{padding:.15rem 0}
.within a{font-family:ui-monospace,monospace}
section>h2{font-size:1.35rem}
.operation{border-top:1px solid var(--line);margin-top:1.6rem}
.operation h3{margin-top:1.2rem}
h3 a{color:inherit}
h3 b,.within b,nav b{font-weight:600;color:var(--link)}
h3 .delete,.within .delete,nav .delete{color:var(--bad)}
h3 .get,.within .get,nav .get,h3 .head,.within .head,nav .head{color:var(--good)}
h4{font-size:.95rem;margin:1rem 0 .2rem}
#errors h3{font:600 1.05rem system-ui,sans-serif}
h5{font:600 .9rem ui-monospace,monospace;margin:1rem 0 .2rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;overflow-x:hidden}
details{margin:.5rem 0}
summary{font-weight:600;font-size:.95rem;padding:.2rem 0}
.fields{list-style:none;margin:.3rem 0;padding:0;font-size:.9rem}
.fields>li{padding:.35rem 0;border-bottom:1px solid var(--line)}
.fields>li:last-child{border-bottom:0}
.fields .fields{border-left:2px solid var(--line);margin-left:.2rem;padding-left:.9rem}
.fields p{margin:.1rem 0}
.fields .name{font-weight:600}
.fields li,.fields .dim{overflow-wrap:anywhere}
.fields .when{font-size:.85rem;color:var(--dim);padding-top:.8rem}
.failures a{padding:.1rem .3rem;font-family:ui-monospace,monospace;font-size:.875rem}
.words dt{font-weight:600;margin-top:.6rem}
.words dd{margin:0}
:target>h3,:target>h2,dt:target{background:var(--soft)}
@media(min-width:62rem){
.pages{display:grid;grid-template-columns:19rem minmax(0,1fr);gap:2rem}
nav{position:sticky;top:0;height:100vh;overflow-y:auto;border-right:1px solid var(--line);padding:1.5rem 1rem}
nav>ul{display:block}
nav>ul>li>a{font-weight:600;display:block;margin-top:.9rem}
nav>ul ul{display:block;font:.78rem/1.7 ui-monospace,monospace}
nav li li{padding-left:2.6rem;text-indent:-2.6rem}
.within{display:none}
}`
  .trim()
  .replaceAll('\n', '')
