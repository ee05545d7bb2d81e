"""What a search of the help centre finds: articles that hold, and forum posts that once did."""

from __future__ import annotations

FOUND: list[dict[str, str]] = [
    {"kind": "article", "title": "Broken on arrival", "updated": "2026-02-11",
     "text": "We replace what arrives broken. Ask for a photo of the damage and of the parcel. "
             "A refund in place of a new item needs the consent of the shift lead. "
             "Lamps and glass are sent again in reinforced packaging."},
    {"kind": "forum", "title": "cracked lampshade, what now??", "updated": "2019-10-02",
     "text": "Same here, the shade of my Oslo lamp was cracked. "
             "It took three days until somebody wrote back. "
             "They were friendly, though."},
    {"kind": "forum", "title": "Re: cracked lampshade, what now??", "updated": "2019-10-04",
     "text": "Hi all, Tom from the shop team here. "
             "Sorry for the wait, we had a bad batch of Oslo shades in September. "
             "Our agents refund cracked shades in full right away, no photo is needed. "
             "Write to us with your order number."},
    {"kind": "forum", "title": "Refund came twice", "updated": "2021-05-19",
     "text": "My refund for a desk came twice. I sent one back. "
             "Support thanked me with a voucher."},
    {"kind": "article", "title": "How long does a refund take?", "updated": "2025-08-30",
     "text": "A refund is on your account within five working days. "
             "Gift cards are refunded as gift cards. "
             "Delivery is refunded if all items of an order are sent back."},
    {"kind": "forum", "title": "Which bulb fits the Oslo?", "updated": "2024-01-23",
     "text": "E14, 40 watts at most. The LED one from the set is fine. "
             "Don't use halogen, the shade gets hot."},
    {"kind": "article", "title": "Packing an item to send it back", "updated": "2024-11-05",
     "text": "Use the box it came in, if you still have it. "
             "Tape the label over the old one. Any parcel shop takes it."},
    {"kind": "forum", "title": "Oslo or Bergen for a reading corner?", "updated": "2022-12-14",
     "text": "The Bergen is brighter. The Oslo looks better, in my opinion. "
             "Both hum a little with old dimmers."},
    {"kind": "article", "title": "Warranty of lamps", "updated": "2025-03-03",
     "text": "Lamps have a warranty of two years. It does not cover broken glass. "
             "Ask for the serial number, it is under the foot."},
    {"kind": "forum", "title": "Refund without the receipt?", "updated": "2023-07-08",
     "text": "Worked for me, they found the order by my mail address. "
             "You only have to know the month."},
]

ORDER = {"order": "58213", "customer": "R. Okafor", "placed": "2026-04-20",
         "delivered": "2026-04-24", "total": "149.00 EUR",
         "items": [{"item": "Oslo table lamp, smoked glass", "price": "129.00 EUR", "count": 1},
                   {"item": "LED bulb E14", "price": "20.00 EUR", "count": 1}]}
