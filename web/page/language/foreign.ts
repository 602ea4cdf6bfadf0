// Detects text that is not English, by its script or by the short words that every text contains.

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(" "));

/** Words that are frequent in English and rare in other languages. */
const english = setOf(
  "the and of to that is it was for with his her they you she he this have from had were which there would their them then what when who will not but all been are said could into your my we be by or as at on",
);

/** The same for nine other languages in Latin letters, without words that English has, too. */
const others = [
  "der das und ist nicht ein eine einen einem einer ich es mit dem den zu sich auf auch wie er sie wir von war im für wenn aber hat sind dass oder nach noch nur sehr kein mir mich dich ihr ihm gibt lebte ging", // de
  "le la les des est et un une dans que qui pour pas sur avec il elle nous vous ils je ce cette son sa ses au aux du mais plus était être avait comme leur où très fait", // fr
  "el la los las que y un una es en por con para no se su lo como pero más fue había era muy este esta ella ellos cuando también del al mi ya hay sus", // es
  "il lo gli che di e un una è per non con si del della dei delle nel nella sono era come ma più anche questo questa suo sua loro aveva molto quando ha ho le", // it
  "o os as um uma que de e não em para com se do da dos das no na por mais como mas foi era muito seu sua ele ela eles quando também havia tinha você está", // pt
  "de het een en van dat niet is op te zijn met voor er maar ook aan bij naar heeft wordt werd ik je wij zij deze dit niets omdat nog wel geen", // nl
  "och att det som en är på för med den till inte av har jag ett var han hon men sig om från de vi så kan när eller", // sv
  "i w na nie się jest że to z do jak ale po co był była ma dla tak już od przez czy jego jej który która", // pl
  "ve bir bu da de için ile çok ne gibi daha ama o var olan kadar sonra ben sen değil olarak mi mı en her", // tr
].map(setOf);

/** With fewer words, or fewer letters of another script, the text may be a name or a quotation. */
const leastWords = 6;
const leastKnown = 3;
const leastLetters = 12;

const countIn = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;

/** How many of `words` are in `list`; 0 if only one or two different ones are. */
function countKnown(words: readonly string[], list: ReadonlySet<string>): number {
  const known = words.filter((word) => list.has(word));
  return new Set(known).size < leastKnown ? 0 : known.length;
}

/** Whether most of `text` is in another language than English; false if that is unclear. */
export function isForeign(text: string): boolean {
  const latin = countIn(text, /\p{Script=Latin}/gu);
  const letters = countIn(text, /\p{L}/gu);
  if (letters - latin >= leastLetters && letters > 2 * latin) return true;
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  if (words.length < leastWords) return false;
  const most = Math.max(...others.map((list) => countKnown(words, list)));
  const ofEnglish = words.filter((word) => english.has(word)).length;
  return most >= words.length / 5 && most > 2 * ofEnglish;
}
