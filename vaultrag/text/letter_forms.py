"""Letters that are written in more than one form, and signs above and below letters that most people leave out."""

from __future__ import annotations

from typing import Final

OLD_KANJI = (
    "亞惡壓圍醫壹隱榮營衞驛圓鹽奧應橫歐黃溫假價畫會壞懷繪擴殼覺學嶽樂勸卷歡罐觀關陷顏氣歸龜僞戲犧舊據擧峽挾狹曉區驅勳徑惠"
    "溪經繼莖螢輕鷄藝擊缺儉劍圈檢權獻縣險顯驗嚴廣恆鑛號國黑濟碎齋劑雜參慘棧蠶贊殘絲齒兒辭濕實寫釋壽收從澁獸縱肅處敍將燒稱證"
    "乘剩壤孃條淨狀疊讓釀囑觸寢愼眞盡圖粹醉隨髓數樞聲靜齊攝竊專戰淺潛纖踐錢禪雙壯搜爭總聰裝騷藏臟屬續墮體對帶滯臺擇澤單擔膽"
    "團彈斷癡遲晝蟲鑄廳聽敕鎭塚遞鐵點傳黨盜燈當鬭德獨讀屆繩貳惱腦霸廢拜賣麥發髮拔蠻祕濱甁拂佛變邊辨瓣豐寶沒飜萬滿默彌藥譯豫餘"
    "與譽搖樣謠來賴亂覽龍兩獵綠壘淚勵禮靈齡戀爐勞樓灣髙﨑德瀨"
)
NEW_KANJI = (
    "亜悪圧囲医壱隠栄営衛駅円塩奥応横欧黄温仮価画会壊懐絵拡殻覚学岳楽勧巻歓缶観関陥顔気帰亀偽戯犠旧拠挙峡挟狭暁区駆勲径恵"
    "渓経継茎蛍軽鶏芸撃欠倹剣圏検権献県険顕験厳広恒鉱号国黒済砕斎剤雑参惨桟蚕賛残糸歯児辞湿実写釈寿収従渋獣縦粛処叙将焼称証"
    "乗剰壌嬢条浄状畳譲醸嘱触寝慎真尽図粋酔随髄数枢声静斉摂窃専戦浅潜繊践銭禅双壮捜争総聡装騒蔵臓属続堕体対帯滞台択沢単担胆"
    "団弾断痴遅昼虫鋳庁聴勅鎮塚逓鉄点伝党盗灯当闘徳独読届縄弐悩脳覇廃拝売麦発髪抜蛮秘浜瓶払仏変辺弁弁豊宝没翻万満黙弥薬訳予余"
    "与誉揺様謡来頼乱覧竜両猟緑塁涙励礼霊齢恋炉労楼湾高崎徳瀬"
)
"""Letters as they were written in Japan before 1946, some of them in names to this day, and as they are now."""

LETTER_FORMS: Final = {
    **{ord(old): new for old, new in zip(OLD_KANJI, NEW_KANJI, strict=True)},
    **{code: chr(code - 0x60) for code in range(0x30A1, 0x30F7)},  # katakana as hiragana
    **dict(zip(map(ord, "\u0622\u0623\u0625\u0671\u0649\u0629"), "\u0627\u0627\u0627\u0627\u064a\u0647", strict=True)),
}
"""One letter for another. In Arabic: alef with its signs, alef maqsura and teh marbuta, which few people type."""

VOWEL_SIGNS: Final = tuple(
    code
    for first, last in (
        (0x591, 0x5BD), (0x5BF, 0x5BF), (0x5C1, 0x5C2), (0x5C4, 0x5C5), (0x5C7, 0x5C7),  # Hebrew
        (0x610, 0x61A), (0x640, 0x640), (0x64B, 0x65F), (0x670, 0x670), (0x6D6, 0x6DC), (0x6DF, 0x6E4),  # Arabic
        (0x6E7, 0x6E8), (0x6EA, 0x6ED),
    )
    for code in range(first, last + 1)
)  # fmt: skip
"""Points, vowel signs and the stroke that makes a word longer: they are dropped."""
