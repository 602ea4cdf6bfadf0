// Which texts are in another language than English.
import { expect, it } from "vitest";
import { isForeign } from "../../../web/page/language/foreign.js";

it.each([
  ["German", "Es war einmal ein kleiner Junge, der in einem Haus am Wald lebte."],
  ["German, a description", "Die Katze sitzt auf dem Dach und schaut zu den Vögeln."],
  ["German in English letters", "Das Wetter ist heute sehr schoen und wir gehen in die Stadt."],
  ["French", "Il était une fois une petite fille qui vivait dans la forêt avec son chat."],
  ["Spanish", "Había una vez una niña que vivía en el bosque con su perro."],
  ["Italian", "C'era una volta una bambina che viveva nel bosco con il suo gatto."],
  ["Portuguese", "Era uma vez uma menina que vivia na floresta com o seu gato."],
  ["Dutch", "Er was eens een klein meisje dat met haar kat in het bos woonde."],
  ["Swedish", "Det var en gång en liten flicka som bodde i skogen med sin katt och det var kallt."],
  ["Polish", "Był sobie raz mały chłopiec, który nie miał psa, ale to nie jest ważne."],
  ["Turkish", "Bir varmış bir yokmuş, bu ormanda çok küçük bir kız ve kedi var."],
  ["Russian", "Жила-была маленькая девочка."],
  ["Arabic", "كان يا ما كان في قديم الزمان"],
  ["Hindi", "एक समय की बात है एक छोटी लड़की थी"],
  ["Chinese", "从前有一个小女孩住在森林里和她的猫。"],
])("a text in another language is recognized: %s", (_, text) => {
  expect(isForeign(text)).toBe(true);
});

it.each([
  ["a story", "Once upon a time, there was a little girl named Lily. She had a red ball."],
  ["one that has just begun", "Once upon a time there was"],
  ["of few small words", "Big red dogs run fast. Small cats sleep well."],
  ["words that are German, too", "They die in war. His hat was in the bad den. An old man was so warm."],
  ["with a quotation", "The old man said: Das ist nicht gut. Then he went to the house and said it again."],
  ["with foreign names", "Monsieur de la Tour met Señor del Río in the house of the van Dijk family."],
  ["with some letters of another script", "The word мир means peace, and she wrote it on the wall."],
  ["code", "for (let i = 0; i < n; i += 1) { total += list[i]; } return total / n;"],
  ["a list", "apples, pears, plums, cherries, eggs, milk, bread, butter"],
  ["too little to tell", "Der Hund"],
  ["numbers", "1 2 3 4 5 6 7 8 9 10 11 12"],
  ["nothing", ""],
])("a text in English is not taken for another language: %s", (_, text) => {
  expect(isForeign(text)).toBe(false);
});
